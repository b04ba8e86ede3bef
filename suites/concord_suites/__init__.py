"""The shipped suite: tasks that need a team."""

from importlib.resources import files
from typing import Final

from concord.suite import Suite
from concord_suites.agree import colouring, consensus, leader_election, maximal_matching, minimal_vertex_cover
from concord_suites.all_to_all import connectivity, logic_grid, meeting, offers_needs, shortest_path, split_budget
from concord_suites.family import TextFamily
from concord_suites.judge import diagnosis, hidden_profile, reliability, stale_fact, suspect_statement
from concord_suites.pipeline import distributed_sort, joined_tables, key_assembly, prefix_sums, relay, route
from concord_suites.pool import (
    count,
    date_intersection,
    dedupe,
    majority,
    maximum,
    median,
    second_price,
    set_union,
    top_k,
)

FAMILIES: Final[tuple[TextFamily, ...]] = (
    maximum.Maximum(),
    count.Count(),
    set_union.SetUnion(),
    majority.Majority(),
    median.Median(),
    top_k.TopK(),
    dedupe.Dedupe(),
    date_intersection.DateIntersection(),
    second_price.SecondPrice(),
    prefix_sums.PrefixSums(),
    relay.Relay(),
    distributed_sort.DistributedSort(),
    joined_tables.JoinedTables(),
    route.Route(),
    key_assembly.KeyAssembly(),
    connectivity.Connectivity(),
    shortest_path.ShortestPath(),
    offers_needs.OffersNeeds(),
    meeting.Meeting(),
    split_budget.SplitBudget(),
    logic_grid.LogicGrid(),
    consensus.Consensus(),
    leader_election.LeaderElection(),
    colouring.Colouring(),
    maximal_matching.MaximalMatching(),
    minimal_vertex_cover.MinimalVertexCover(),
    hidden_profile.HiddenProfile(),
    reliability.Reliability(),
    stale_fact.StaleFact(),
    suspect_statement.SuspectStatement(),
    diagnosis.Diagnosis(),
)

SUITE: Final = Suite(
    {family.name: family for family in FAMILIES},
    {
        file.name.removesuffix(".json"): file.read_text(encoding="utf-8")
        for file in files(__package__).joinpath("manifests").iterdir()
    },
)

__all__ = ["FAMILIES", "SUITE"]
