"""The graph engines: rustworkx agrees with NetworkX, sampling is marked, and results are reproducible to the bit."""

import math
from collections import Counter
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from concord_evaluator.graph import engines
from concord_evaluator.graph.engines import Arcs, Distances, NodeScores

DAMPING = 0.85


def digraph(edges: "nx.Graph[int]", *, isolated: int = 0) -> "nx.DiGraph[str]":
    """The same edges between named nodes, with weights from 1 to 5, and some nodes without edges."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"n{node:03}" for node in sorted(edges))
    graph.add_nodes_from(f"x{node:03}" for node in range(isolated))
    graph.add_weighted_edges_from((f"n{a:03}", f"n{b:03}", 1 + (a + b) % 5) for a, b in sorted(edges.edges))
    return graph


def arcs_of(graph: "nx.Graph[str]") -> Arcs:
    """The same graph for the engines."""
    place = {node: number for number, node in enumerate(graph)}
    edges = [(place[tail], place[head], weight) for tail, head, weight in graph.edges(data="weight", default=1)]
    tails, heads, weights = np.array(edges, np.int64).reshape(-1, 3).T
    return Arcs.of(list(graph), tails, heads, weights, directed=graph.is_directed())


def closeness(graph: Arcs) -> NodeScores:
    return engines.closeness(graph, engines.distances(graph))


def strong() -> "nx.DiGraph[str]":
    graph = nx.gnp_random_graph(40, 0.2, seed=1, directed=True)
    graph.add_edges_from(nx.cycle_graph(40, create_using=nx.DiGraph).edges)
    return digraph(graph)


GRAPHS: dict[str, Callable[[], "nx.DiGraph[str]"]] = {
    "strong": strong,
    "sparse": lambda: digraph(nx.gnm_random_graph(60, 70, seed=2, directed=True)),
    "dag": lambda: digraph(nx.DiGraph((a, b) for a, b in nx.gnp_random_graph(40, 0.15, seed=3).edges)),
    "disconnected": lambda: digraph(
        nx.disjoint_union(nx.gnp_random_graph(20, 0.2, seed=4, directed=True), nx.cycle_graph(9, nx.DiGraph)),
        isolated=4,
    ),
    "star": lambda: digraph(nx.star_graph(12).to_directed()),
    "chain": lambda: digraph(nx.path_graph(30).to_directed()),
    "pair": lambda: digraph(nx.DiGraph([(0, 1)])),
    "single": lambda: digraph(nx.DiGraph(), isolated=1),
    "empty": lambda: digraph(nx.DiGraph()),
}
SCORES: dict[str, Callable[[Arcs], NodeScores]] = {
    "betweenness": engines.betweenness,
    "closeness": closeness,
}
ALL_SCORES = SCORES | {"pagerank": lambda graph: engines.pagerank(graph, DAMPING)}


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> "nx.DiGraph[str]":
    return GRAPHS[request.param]()


@pytest.fixture(autouse=True)
def networkx_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "NETWORKX_UP_TO", 1000)


@pytest.fixture
def only_rustworkx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)


@pytest.fixture
def only_sampling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)
    monkeypatch.setattr(engines, "EXACT_UP_TO", -1)


class TestParity:
    @pytest.mark.parametrize("name", SCORES)
    def test_rustworkx_and_networkx_scores_agree(
        self, name: str, graph: "nx.DiGraph[str]", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        defined = SCORES[name](arcs_of(graph))
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)
        fast = SCORES[name](arcs_of(graph))
        assert (defined.engine, fast.engine, fast.sample_size) == ("networkx", "rustworkx", None)
        assert list(fast.values) == list(defined.values)
        assert fast.values == pytest.approx(dict(defined.values), abs=1e-8)

    def test_rustworkx_and_networkx_pageranks_agree(self, graph: "nx.DiGraph[str]") -> None:
        ranks = engines.pagerank(arcs_of(graph), DAMPING)
        assert ranks.engine == "rustworkx"
        assert ranks.values == pytest.approx(nx.pagerank(graph, alpha=DAMPING, tol=1e-10, max_iter=1000), abs=1e-8)

    def test_the_formula_and_networkx_agree_on_clustering_to_the_bit(
        self, graph: "nx.DiGraph[str]", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        contacts = arcs_of(graph.to_undirected())
        defined = engines.clustering(contacts)
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)
        assert engines.clustering(contacts) == NodeScores(defined.values, "python")

    def test_rustworkx_and_networkx_distances_are_identical(
        self, graph: "nx.DiGraph[str]", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        undirected = graph.to_undirected()
        defined = [engines.distances(arcs_of(graph)), engines.distances(arcs_of(undirected))]
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)
        fast = [engines.distances(arcs_of(graph)), engines.distances(arcs_of(undirected))]
        assert [each.engine for each in fast] == ["rustworkx", "rustworkx"]
        assert [_figures(each) for each in fast] == [_figures(each) for each in defined]

    @pytest.mark.parametrize("name", ["strong", "star", "chain"])
    def test_rustworkx_and_networkx_eigenvectors_agree(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = GRAPHS[name]()
        defined = engines.eigenvector(arcs_of(graph))
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", -1)
        fast = engines.eigenvector(arcs_of(graph))
        assert defined is not None
        assert fast is not None
        assert (defined.engine, fast.engine) == ("networkx", "rustworkx")
        assert fast.values == pytest.approx(dict(defined.values), abs=1e-5)


def _figures(distances: Distances) -> object:
    return distances.sources, distances.reached, distances.harmonic, distances.histogram, distances.sample_size


class TestDefinition:
    """Compares the engines with functions of NetworkX that they do not use."""

    def test_distances_yield_networkxs_path_length_diameter_and_efficiency(self) -> None:
        graph = GRAPHS["strong"]()
        found, n = engines.distances(arcs_of(graph)), len(graph)
        assert sum(d * count for d, count in found.histogram.items()) / (n * (n - 1)) == pytest.approx(
            nx.average_shortest_path_length(graph)
        )
        assert max(found.histogram) == nx.diameter(graph)
        undirected = graph.to_undirected()
        assert sum(engines.distances(arcs_of(undirected)).harmonic) / (n * (n - 1)) == pytest.approx(
            nx.global_efficiency(undirected)
        )

    def test_pagerank_is_the_fixed_point_of_the_google_matrix(self) -> None:
        graph = GRAPHS["disconnected"]()
        ranks = engines.pagerank(arcs_of(graph), DAMPING).values
        google = nx.google_matrix(graph, alpha=DAMPING)
        after = [sum(rank * float(google[i, j]) for i, rank in enumerate(ranks.values())) for j in range(len(graph))]
        assert list(ranks.values()) == pytest.approx(after, abs=1e-9)
        assert math.fsum(ranks.values()) == pytest.approx(1.0)


class TestBits:
    @pytest.mark.parametrize("name", ALL_SCORES)
    @pytest.mark.usefixtures("only_rustworkx")
    def test_scores_are_identical_in_every_run(self, name: str) -> None:
        graph = digraph(nx.gnm_random_graph(150, 1200, seed=5, directed=True))
        assert len({tuple(ALL_SCORES[name](arcs_of(graph)).values.values()) for _ in range(5)}) == 1

    @pytest.mark.usefixtures("only_sampling")
    def test_sampled_results_are_identical_in_every_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engines, "SAMPLED_WORK", 1)
        graph = GRAPHS["strong"]()
        assert len({tuple(engines.betweenness(arcs_of(graph)).values.values()) for _ in range(3)}) == 1
        assert len({engines.distances(arcs_of(graph)).sources for _ in range(3)}) == 1


class TestSampling:
    @pytest.mark.usefixtures("only_sampling")
    def test_sampling_all_sources_is_exact(self, graph: "nx.DiGraph[str]") -> None:
        assert closeness(arcs_of(graph)).values == pytest.approx(nx.closeness_centrality(graph))
        assert engines.betweenness(arcs_of(graph)).values == pytest.approx(nx.betweenness_centrality(graph), abs=1e-12)
        assert engines.distances(arcs_of(graph)).sample_size is not None

    @pytest.mark.usefixtures("only_sampling")
    def test_distances_from_some_sources_are_those_that_networkx_finds(
        self, graph: "nx.DiGraph[str]", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engines, "SAMPLED_WORK", 1)
        lengths = engines.distances(arcs_of(graph))
        walked = [
            nx.single_source_shortest_path_length(graph, source)
            for source in (list(graph)[number] for number in lengths.sources)
        ]
        assert lengths.reached == tuple(len(each) - 1 for each in walked)
        counted = Counter(distance for each in walked for distance in each.values() if distance)
        assert lengths.histogram == dict(counted)

    @pytest.mark.usefixtures("only_sampling")
    def test_sampled_betweenness_divides_by_the_pairs_that_a_node_can_stand_between(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engines, "SAMPLED_WORK", 1)
        graph = GRAPHS["strong"]()
        found = engines.betweenness(arcs_of(graph))
        sources = [list(graph)[number] for number in engines.distances(arcs_of(graph)).sources]
        through = nx.betweenness_centrality_subset(graph, sources, list(graph))
        others = {node: len(sources) - (node in sources) for node in graph}
        pairs = {node: others[node] * (len(graph) - 2) for node in graph}
        assert found.sample_size == len(sources) == 8
        assert found.values == pytest.approx({node: through[node] / pairs[node] for node in graph}, abs=1e-12)

    @pytest.mark.usefixtures("only_sampling")
    def test_sampling_some_sources_is_close_and_reports_their_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = digraph(nx.gnm_random_graph(200, 2000, seed=6, directed=True))
        monkeypatch.setattr(engines, "SAMPLED_WORK", 100 * 2201)
        sampled = closeness(arcs_of(graph))
        assert (
            sampled.sample_size
            == engines.betweenness(arcs_of(graph)).sample_size
            == len(engines.distances(arcs_of(graph)).sources)
            == 100
        )
        assert sampled.values == pytest.approx(nx.closeness_centrality(graph), rel=0.1)
        most = max(nx.betweenness_centrality(graph).values())
        assert max(engines.betweenness(arcs_of(graph)).values.values()) == pytest.approx(most, rel=0.5)

    def test_sampling_is_chosen_by_the_size_of_the_graph(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = GRAPHS["strong"]()
        monkeypatch.setattr(engines, "NETWORKX_UP_TO", len(graph) - 1)
        work = len(graph) * graph.number_of_edges()
        for bound, sources_of_paths, sources_of_lengths in (
            (engines.COUNTED_PATHS * work, None, None),
            (engines.COUNTED_PATHS * work - 1, len(graph), None),
            (work, len(graph), None),
            (work - 1, len(graph), len(graph)),
        ):
            monkeypatch.setattr(engines, "EXACT_UP_TO", bound)
            assert engines.betweenness(arcs_of(graph)).sample_size == sources_of_paths
            assert closeness(arcs_of(graph)).sample_size == sources_of_lengths

    def test_no_matrix_of_all_distances_is_held_of_a_very_large_team(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = arcs_of(GRAPHS["strong"]())
        monkeypatch.setattr(engines, "MATRIX_UP_TO", len(graph) - 1)
        assert engines.distances(graph).sample_size

    @pytest.mark.usefixtures("only_rustworkx")
    def test_sampled_clustering_reports_the_number_of_nodes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph = GRAPHS["strong"]().to_undirected()
        exact = engines.clustering(arcs_of(graph))
        work = sum(degree**2 for _, degree in graph.degree())
        monkeypatch.setattr(engines, "EXACT_UP_TO", engines.COMPARED_PAIRS * work // 2)
        half = engines.clustering(arcs_of(graph))
        assert (exact.sample_size, half.sample_size) == (None, len(graph) // 2)
        assert half.values.items() <= exact.values.items()
