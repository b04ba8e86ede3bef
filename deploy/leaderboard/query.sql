-- The leaderboard: one line per submission and kind of score, for DuckDB over read_json_auto('results/*.json') AS results.
--
-- The platform wants the agent's id first, in a column named id. `role` names the participant who is credited. Where no
-- participant has this role, it is the first by name of those that the row assesses, so never the green agent.
-- Everything is read through JSON, so that a key that no file has is null rather than an error, and so is a value of
-- another type than its column's.
--
-- Scores are put together and ranked only with their like. A kind of score is: the domain, the version of the scoring
-- rules, the basis (what the score rests on; rows of version 1 do not say and count as `structure`), whether a team
-- or a lone participant was assessed, and the ranking kind (a digest over tasks, seats, exchange, difficulty, topology
-- and isolation, which rows have since version 3). "Rank" counts within a kind, by score, then information, then economy.
-- Only scores on the basis `outcome` have one, and of team tasks only those of published manifests: a given pattern or a
-- recorded trace is nobody's work on the tasks. Lines without a rank are listed below those that have one.
--
-- A submission with a row that is not complete is refused as a whole, in that row's domain: it has no line, because
-- nobody may gain by the loss of a trial.
--
-- The sample agent is the reference of each kind: its lines stand among the others by their score, and have no rank.
-- `reference_bundles` names its rows by the SHA-256 of their bundles (`detail.bundle_sha256`), which the leaderboard's
-- owner has from playing it. A row that calls itself the sample agent is none.
--
-- The rows of one file and kind (shards) are weighted by their usable trials and those of which no evaluation came; a
-- row of no trials (a shard that had no task) is left out. Only a file with each shard of one assessment has a rank, once each:
-- rows state theirs in `detail.shard`. Earlier rows do not; each has a rank if it is the only one, of a file that is
-- not `partial`.
--
-- A trial that nobody judged counts 0 in "Score" and as perfect in "Score High"; where nobody judged any trial, both are
-- empty, and the line is listed without a rank.
WITH settings AS (
    SELECT 'agent' AS role, []::VARCHAR[] AS reference_bundles
),
documents AS (
    SELECT row_number() OVER () AS submission, to_json(file) AS document FROM results AS file
),
submissions AS (
    SELECT
        submission,
        role,
        reference_bundles,
        coalesce(document ->> '$.status', 'completed') = 'completed' AS completed,
        -- Read as a map, because a path to a key could not name every key.
        [
            each for each in map_entries(try_cast(document -> '$.participants' AS MAP(VARCHAR, VARCHAR)))
            if each.value IS NOT NULL
        ] AS participants,
        unnest(json_extract(document, '$.results[*]')) AS res
    FROM documents, settings
),
credited AS (
    SELECT
        *,
        list_sort([
            each for each in participants
            if each.key = role OR coalesce(list_contains(assessed, each.key), each.key NOT IN ('concord', 'green'))
        ]) AS candidates,
        coalesce([each.value for each in candidates if each.key = role][1], candidates[1].value) AS id
    FROM (
        -- An agent inside a participant is called `participant/name`.
        SELECT *, [split_part(agent, '/', 1) for agent in nullif(res ->> '$.detail.agents[*].id', [])] AS assessed
        FROM submissions
    )
),
rows AS (
    SELECT
        submission,
        id,
        res,
        res ->> '$.domain' AS domain,
        res ->> '$.detail.scoring.version' AS version,
        coalesce(res ->> '$.detail.scoring.basis', 'structure') AS basis,
        -- A lone participant takes all seats of a team task: their names are its own with a number.
        coalesce(res ->> '$.detail.coordination_status', 'ok') = 'not_applicable'
        OR (
            coalesce(len(res -> '$.detail.scoring.ranking_parts.seats[*]'), 0) > 0
            AND (
                -- More than 500 agents are columns, the first of them their ids, which may have a common prefix.
                coalesce(contains(res ->> '$.detail.agents.columns[0].prefix', '/'), false)
                OR len(list_distinct(regexp_extract_all(
                    coalesce(
                        CAST(res -> '$.detail.agents.columns[0].values' AS VARCHAR),
                        CAST(res -> '$.detail.agents[*].id' AS VARCHAR)
                    ),
                    '"([^"/]*)[^"]*"', 1
                ))) = 1
            )
        ) AS lone,
        coalesce(res ->> '$.detail.scoring.ranking_kind', '') AS kind,
        coalesce(try_cast(res ->> '$.detail.scoring.complete' AS BOOLEAN), true) AS complete,
        completed,
        try_cast(res ->> '$.detail.shard.shard_index' AS DOUBLE) AS shard_index,
        try_cast(res ->> '$.detail.shard.num_shards' AS DOUBLE) AS num_shards,
        res ->> '$.detail.shard.plan_sha256' AS plan,
        res ->> '$.detail.task_secret_sha256' AS secret,
        -- Rows of team tasks state their seats. Of those, only whole manifests are ranked.
        coalesce(
            len(res -> '$.detail.scoring.ranking_parts.seats[*]') = 0
            OR try_cast(res ->> '$.detail.scoring.ranking_parts.published' AS BOOLEAN),
            true
        ) AS published,
        try_cast(res ->> '$.detail.scoring.information.value' AS DOUBLE) AS information,
        try_cast(res ->> '$.detail.scoring.information.trials' AS DOUBLE) AS informed,
        try_cast(res ->> '$.detail.scoring.economy.value' AS DOUBLE) AS economy,
        try_cast(res ->> '$.detail.scoring.economy.trials' AS DOUBLE) AS economical,
        try_cast(res ->> '$.detail.scoring.lift.gap' AS DOUBLE) AS lift,
        try_cast(res ->> '$.detail.scoring.lift.trials' AS DOUBLE) AS lifted,
        res ->> '$.detail.scoring.lift.control' AS lift_over,
        coalesce(list_contains(reference_bundles, res ->> '$.detail.bundle_sha256'), false) AS reference,
        try_cast(res ->> '$.detail.scoring.information.low' AS DOUBLE) AS information_low,
        try_cast(res ->> '$.detail.scoring.information.high' AS DOUBLE) AS information_high,
        try_cast(res ->> '$.detail.scoring.economy.low' AS DOUBLE) AS economy_low,
        try_cast(res ->> '$.detail.scoring.economy.high' AS DOUBLE) AS economy_high,
        try_cast(res ->> '$.detail.scoring.lift.gap_low' AS DOUBLE) AS lift_low,
        try_cast(res ->> '$.detail.scoring.lift.gap_high' AS DOUBLE) AS lift_high,
        try_cast(res ->> '$.detail.scoring.usable_trials' AS DOUBLE) AS usable,
        try_cast(res ->> '$.detail.scoring.judged_by_code' AS DOUBLE)
        + try_cast(res ->> '$.detail.scoring.judged_by_model' AS DOUBLE)
        + try_cast(res ->> '$.detail.scoring.judged_by_record' AS DOUBLE) AS judged,
        try_cast(res ->> '$.detail.scoring.unjudged' AS DOUBLE) AS unjudged,
        -- A row that does not say how many trials it has counts as one. Trials of which no evaluation came are not
        -- usable, but count among the unjudged.
        greatest(coalesce(usable, 1), coalesce(judged + unjudged, 0), 0) AS weight,
        try_cast(res ->> '$.pass_rate' AS DOUBLE) AS pass_rate,
        try_cast(res ->> '$.score' AS DOUBLE) AS score,
        try_cast(res ->> '$.detail.scoring.score_high' AS DOUBLE) AS best,
        try_cast(res ->> '$.task_rewards.overall_score' AS DOUBLE) AS overall,
        try_cast(res ->> '$.task_rewards.graph_density' AS DOUBLE) AS density,
        try_cast(res ->> '$.task_rewards.coordination_quality' AS DOUBLE) AS coordination,
        try_cast(res ->> '$.detail.latency_metrics.avg' AS DOUBLE) AS latency_avg,
        try_cast(res ->> '$.detail.latency_metrics.p95' AS DOUBLE) AS latency_p95,
        try_cast(res ->> '$.detail.statistics.score_low' AS DOUBLE) AS score_low,
        try_cast(res ->> '$.detail.statistics.score_high' AS DOUBLE) AS score_high
    FROM credited
    WHERE id IS NOT NULL AND json_type(res) = 'OBJECT'
),
planned AS (
    SELECT
        *,
        bool_and(complete) OVER (PARTITION BY submission, domain) AS all_complete,
        len(list_distinct(list(shard_index) OVER of_plan)) AS present,
        -- Shards of no tasks follow from no secret, and are in no kind: they count here alone.
        count(*) FILTER (weight > 0) OVER of_plan AS played,
        num_shards = count(*) OVER of_plan
        AND num_shards = present
        AND min(shard_index) OVER of_plan = 0
        AND max(shard_index) OVER of_plan = num_shards - 1
        AND len(list_distinct(list(num_shards) OVER of_plan)) = 1
        AND len(list_distinct(list(secret) OVER of_plan)) <= 1 AS whole
    FROM rows
    WINDOW of_plan AS (PARTITION BY submission, plan)
),
counted AS (
    -- A shard in which nobody judged any trial has no score of its own; beside shards that were judged it counts as 0,
    -- and at best as 100.
    SELECT
        * REPLACE (
            CASE WHEN unjudged > 0 THEN coalesce(pass_rate, 0) ELSE pass_rate END AS pass_rate,
            CASE WHEN unjudged > 0 THEN coalesce(score, 0) ELSE score END AS score,
            CASE WHEN unjudged > 0 THEN coalesce(best, 100) ELSE coalesce(best, score) END AS best,
            CASE WHEN unjudged > 0 THEN coalesce(overall, 0) ELSE overall END AS overall
        ),
        score IS NOT NULL AS scored
    FROM planned
    WHERE weight > 0 AND all_complete
),
teams AS (
    SELECT
        any_value(id) AS id,
        domain,
        version,
        basis,
        lone,
        kind,
        bool_and(published) AS published,
        CASE WHEN bool_and(plan IS NULL) THEN bool_and(completed) AND count(*) = 1
            ELSE bool_and(coalesce(whole, false)) AND count(*) = any_value(played)
        END AS whole,
        CASE WHEN count(DISTINCT plan) = 1 THEN any_value(format('{} of {}', present, try_cast(num_shards AS BIGINT))) END AS parts,
        reference,
        sum(information * informed) / sum(informed) FILTER (information IS NOT NULL) AS information,
        sum(economy * economical) / sum(economical) FILTER (economy IS NOT NULL) AS economy,
        sum(lift * lifted) / sum(lifted) FILTER (lift IS NOT NULL) AS lift,
        -- The user's own tasks and team tasks have different controls: over both, there is no one lift.
        CASE WHEN count(DISTINCT lift_over) = 1 THEN any_value(lift_over) END AS lift_over,
        count(*) AS shards,
        sum(usable) AS usable,
        sum(judged) AS judged,
        sum(unjudged) AS unjudged,
        bool_or(scored) AS scored,
        sum(pass_rate * weight) / sum(weight) FILTER (pass_rate IS NOT NULL) AS pass_rate,
        sum(score * weight) / sum(weight) FILTER (score IS NOT NULL) AS score,
        sum(best * weight) / sum(weight) FILTER (best IS NOT NULL) AS best,
        sum(overall * weight) / sum(weight) FILTER (overall IS NOT NULL) AS overall,
        sum(density * weight) / sum(weight) FILTER (density IS NOT NULL) AS density,
        sum(coordination * weight) / sum(weight) FILTER (coordination IS NOT NULL) AS coordination,
        CASE
            WHEN count(*) = 1 THEN any_value(res ->> '$.detail.coordination_quality')
            WHEN bool_or(try_cast(res ->> '$.detail.graph_metrics.has_bottleneck' AS BOOLEAN)) THEN 'bottleneck'
            WHEN sum(coordination * weight) / sum(weight) FILTER (coordination IS NOT NULL) >= 0.66 THEN 'high'
            WHEN sum(coordination * weight) / sum(weight) FILTER (coordination IS NOT NULL) >= 0.33 THEN 'medium'
            WHEN sum(coordination) IS NOT NULL THEN 'low'
        END AS quality,
        bool_or(try_cast(res ->> '$.detail.graph_metrics.has_bottleneck' AS BOOLEAN)) AS bottleneck,
        max(len(coalesce(res -> '$.detail.graph_metrics.isolated_agents[*]', []))) AS isolated,
        sum(latency_avg * weight) / sum(weight) FILTER (latency_avg IS NOT NULL) AS latency_avg,
        max(latency_p95) AS latency_p95,
        any_value(score_low) AS score_low,
        any_value(score_high) AS score_high,
        any_value(information_low) AS information_low,
        any_value(information_high) AS information_high,
        any_value(economy_low) AS economy_low,
        any_value(economy_high) AS economy_high,
        any_value(lift_low) AS lift_low,
        any_value(lift_high) AS lift_high
    FROM counted
    GROUP BY submission, domain, version, basis, lone, kind, reference
),
ranked AS (
    SELECT
        * REPLACE (
            CASE WHEN scored THEN pass_rate END AS pass_rate,
            CASE WHEN scored THEN score END AS score,
            CASE WHEN scored THEN best END AS best,
            CASE WHEN scored THEN overall END AS overall
        ),
        basis = 'outcome' AND scored AND published AND whole AS comparable,
        CASE WHEN comparable AND NOT reference
            THEN rank() OVER (
                PARTITION BY domain, version, basis, lone, kind, scored, published, whole, reference
                ORDER BY
                    round(score, 1) DESC,
                    round(information, 2) DESC NULLS LAST,
                    round(economy, 2) DESC NULLS LAST
            )
        END AS place
    FROM teams
)
SELECT
    id,
    round(pass_rate, 1) AS "Pass Rate",
    round(score, 1) AS "Score",
    domain AS "Domain",
    round(overall * 100, 1) AS "Overall %",
    round(density * 100, 1) AS "Density %",
    CASE
        WHEN coordination >= 0.66 THEN 'High'
        WHEN coordination >= 0.33 THEN 'Medium'
        WHEN coordination IS NOT NULL THEN 'Low'
    END AS "Coordination",
    quality AS "Quality",
    bottleneck AS "Bottleneck",
    isolated AS "Isolated",
    round(latency_avg, 0) AS "Avg Latency (ms)",
    round(latency_p95, 0) AS "P95 Latency (ms)",
    -- An interval holds for the row it came with; shards would need their trials, which the row's reader can look up.
    CASE WHEN shards = 1 AND score_low IS NOT NULL
        THEN format('{:.1f} to {:.1f}', score_low, score_high)
    END AS "Score 95 %",
    place AS "Rank",
    CASE WHEN reference THEN 'sample agent (reference)' WHEN lone THEN 'one participant' ELSE 'team' END AS "Assessed",
    basis AS "Basis",
    version AS "Version",
    round(best, 1) AS "Score High",
    try_cast(usable AS BIGINT) AS "Usable",
    try_cast(judged AS BIGINT) AS "Judged",
    try_cast(unjudged AS BIGINT) AS "Unjudged",
    round(information, 2) AS "Information",
    round(economy, 2) AS "Economy",
    nullif(kind, '') AS "Ranking Kind",
    CASE WHEN shards = 1 AND information_low IS NOT NULL
        THEN format('{:.2f} to {:.2f}', information_low, information_high)
    END AS "Information 95 %",
    CASE WHEN shards = 1 AND economy_low IS NOT NULL
        THEN format('{:.2f} to {:.2f}', economy_low, economy_high)
    END AS "Economy 95 %",
    -- In points, over the starting agent alone, or over one agent with all briefs.
    CASE WHEN lift_over IS NOT NULL THEN round(100 * lift, 1) END AS "Lift",
    CASE WHEN shards = 1 AND lift_low IS NOT NULL
        THEN format('{:+.1f} to {:+.1f}', 100 * lift_low, 100 * lift_high)
    END AS "Lift 95 %",
    lift_over AS "Lift Over",
    parts AS "Shards"
FROM ranked
ORDER BY
    NOT comparable,
    lone,
    basis <> 'outcome',
    try_cast(version AS DOUBLE) DESC NULLS LAST,
    kind,
    "Score" DESC NULLS LAST,
    place,
    "Pass Rate" DESC NULLS LAST,
    id;
