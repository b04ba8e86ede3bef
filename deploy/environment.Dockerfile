# The environment: a simulated user with email, SMS, calendar and chat.

FROM python:3.13-slim AS builder
WORKDIR /build
ENV PATH=/opt/build/bin:$PATH
COPY locks/build.txt locks/
RUN python -m venv /opt/build && pip install --no-cache-dir --require-hashes -r locks/build.txt
COPY locks/environment.txt locks/
RUN python -m venv --without-pip /opt/concord \
    && pip --python /opt/concord install --no-cache-dir --require-hashes -r locks/environment.txt
COPY pyproject.toml README.md LICENSE ./
COPY shared shared
COPY services services
COPY suites suites
COPY assistant assistant
COPY cli cli
RUN pip wheel --no-deps --no-build-isolation --wheel-dir wheels . \
    && pip --python /opt/concord install --no-deps --no-index wheels/*.whl

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
EXPOSE 8000
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=10 \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://localhost:8000/health"]
ENTRYPOINT ["python", "-m", "concord_environment"]
CMD ["--host", "0.0.0.0", "--port", "8000"]
