# The image of api, worker and upstream worker; temporal-dev.yml says which command each runs.
FROM python:3.11-slim AS dependencies
COPY requirements.lock /tmp/requirements.lock
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /tmp/requirements.lock

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin service
COPY --from=dependencies /opt/venv /opt/venv
WORKDIR /service
COPY models models
COPY workflows workflows
COPY activities activities
COPY api api
# stack.register prepares a Temporal namespace from what temporal-dev.yml says.
COPY stack stack
COPY worker.py temporal-dev.yml ./
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER service
EXPOSE 8000
CMD ["python", "-m", "api", "--host", "0.0.0.0", "--port", "8000"]
