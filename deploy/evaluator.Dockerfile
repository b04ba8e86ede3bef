# An evaluation worker. `--queue llm` runs the jobs that wait for a language model.

FROM python:3.13-slim AS builder
WORKDIR /build
ENV PATH=/opt/build/bin:$PATH
COPY locks/build.txt locks/
RUN python -m venv /opt/build && pip install --no-cache-dir --require-hashes -r locks/build.txt
COPY locks/evaluator.txt locks/
RUN python -m venv --without-pip /opt/concord \
    && pip --python /opt/concord install --no-cache-dir --require-hashes -r locks/evaluator.txt
COPY pyproject.toml README.md LICENSE ./
COPY shared shared
COPY services services
COPY suites suites
COPY assistant assistant
COPY cli cli
# Babel's data of languages whose months nobody reads take 30 MB.
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
    && pip --python /opt/concord install --no-deps --no-index wheels/*.whl \
    && find /opt/concord -path '*/babel/locale-data/*.dat' ! -name root.dat ! -name en.dat ! -name fr.dat ! -name de.dat ! -name es.dat ! -name pt.dat ! -name it.dat ! -name nl.dat -delete

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends curl \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin \
    && useradd --uid 1000 --no-create-home --home-dir /srv/concord concord \
    && install --directory --owner concord /srv/concord
WORKDIR /srv/concord
COPY --from=builder /opt/concord /opt/concord
ENV PATH=/opt/concord/bin:$PATH PYTHONUNBUFFERED=1
USER concord
ENTRYPOINT ["python", "-m", "concord_evaluator"]
CMD ["--queue", "fast"]
