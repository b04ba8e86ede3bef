-- The leaderboard: one line per submission and domain, for DuckDB over read_json_auto('results/*.json') AS results.
--
-- The platform wants the agent's id first, in a column named id. `role` names the participant who is credited: the first
-- key of `participants` would be the wrong one where there are several, or where the green agent stands among them.
-- Everything is read through JSON, so that a key that no file has is null rather than an error. The rows of one file
-- and domain (shards) are put together, weighted by their usable trials.
WITH settings AS (
    SELECT 'agent' AS role
),
submissions AS (
    SELECT
        row_number() OVER () AS submission,
        json_extract_string(to_json(results.participants), '$."' || settings.role || '"') AS id,
        unnest(json_extract(to_json(results.results), '$[*]')) AS res
    FROM results, settings
),
rows AS (
    SELECT
        submission,
        id,
        res,
        res ->> '$.domain' AS domain,
        greatest(coalesce((res ->> '$.detail.scoring.usable_trials')::DOUBLE, 1), 0) AS weight,
        (res ->> '$.pass_rate')::DOUBLE AS pass_rate,
        (res ->> '$.score')::DOUBLE AS score,
        (res ->> '$.task_rewards.overall_score')::DOUBLE AS overall,
        (res ->> '$.task_rewards.graph_density')::DOUBLE AS density,
        (res ->> '$.task_rewards.coordination_quality')::DOUBLE AS coordination,
        (res ->> '$.detail.latency_metrics.avg')::DOUBLE AS latency_avg,
        (res ->> '$.detail.latency_metrics.p95')::DOUBLE AS latency_p95,
        (res ->> '$.detail.statistics.score_low')::DOUBLE AS score_low,
        (res ->> '$.detail.statistics.score_high')::DOUBLE AS score_high
    FROM submissions
    WHERE id IS NOT NULL AND json_type(res) = 'OBJECT'
),
teams AS (
    SELECT
        any_value(id) AS id,
        domain,
        count(*) AS shards,
        sum(pass_rate * weight) / nullif(sum(weight) FILTER (pass_rate IS NOT NULL), 0) AS pass_rate,
        sum(score * weight) / nullif(sum(weight) FILTER (score IS NOT NULL), 0) AS score,
        sum(overall * weight) / nullif(sum(weight) FILTER (overall IS NOT NULL), 0) AS overall,
        sum(density * weight) / nullif(sum(weight) FILTER (density IS NOT NULL), 0) AS density,
        sum(coordination * weight) / nullif(sum(weight) FILTER (coordination IS NOT NULL), 0) AS coordination,
        arg_max(res ->> '$.detail.coordination_quality', weight) AS quality,
        bool_or((res ->> '$.detail.graph_metrics.has_bottleneck')::BOOLEAN) AS bottleneck,
        max(len(coalesce(res -> '$.detail.graph_metrics.isolated_agents[*]', []))) AS isolated,
        sum(latency_avg * weight) / nullif(sum(weight) FILTER (latency_avg IS NOT NULL), 0) AS latency_avg,
        max(latency_p95) AS latency_p95,
        any_value(score_low) AS score_low,
        any_value(score_high) AS score_high
    FROM rows
    GROUP BY submission, domain
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
    END AS "Score 95 %"
FROM teams
ORDER BY "Score" DESC NULLS LAST, "Pass Rate" DESC NULLS LAST, id;
