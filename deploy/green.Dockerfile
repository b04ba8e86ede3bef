# The whole green agent in one container and behind one port, as the AgentBeats platform starts it.

FROM python:3.13-slim AS builder
WORKDIR /build
ENV PATH=/opt/build/bin:$PATH
COPY locks/build.txt locks/
RUN python -m venv /opt/build && pip install --no-cache-dir --require-hashes -r locks/build.txt
COPY locks/green.txt locks/
RUN python -m venv --without-pip /opt/concord \
    && pip --python /opt/concord install --no-cache-dir --require-hashes -r locks/green.txt
COPY pyproject.toml README.md LICENSE ./
COPY shared shared
COPY services services
COPY suites suites
COPY assistant assistant
COPY cli cli
# Third-party packages' own tests are a tenth of their size, and Babel's data of languages whose months nobody reads 30 MB.
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
    && pip --python /opt/concord install --no-deps --no-index wheels/*.whl \
    && find /opt/concord -type d -name tests -prune -exec rm -rf {} + \
    && find /opt/concord -path '*/babel/locale-data/*.dat' ! -name root.dat ! -name en.dat ! -name fr.dat ! -name de.dat ! -name es.dat ! -name pt.dat ! -name it.dat ! -name nl.dat -delete

FROM python:3.13-slim
# tini reaps the processes that a killed part leaves behind, and forwards signals from the first moment.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends curl tini \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin \
    && useradd --uid 1000 --no-create-home --home-dir /srv/concord concord \
    && install --directory --owner concord /srv/concord
WORKDIR /srv/concord
COPY --from=builder /opt/concord /opt/concord
COPY scenarios/assistant scenarios/assistant
# The root file system may be read-only: everything that is written goes to /tmp.
ENV PATH=/opt/concord/bin:$PATH PYTHONUNBUFFERED=1 CONCORD_OUTPUT_DIR=/tmp/output CONCORD_CARD_KEY=/tmp/output/card-key.pem
USER concord
EXPOSE 9009
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=10 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://localhost:9009/.well-known/agent-card.json"]
ENTRYPOINT ["tini", "--", "concord", "green"]
CMD ["--host", "0.0.0.0", "--port", "9009"]
