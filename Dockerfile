# One image for API, worker, migrations and dashboard, and a target of its own for the provider runtime:
#
#   docker build --target service --tag routines .
#   docker build --target runtime --tag routines-runtime .
#   docker run routines api/server.ts            (the default; also workers/main.ts, migrations/run.ts, ui/server.ts)
#
# Both images need nothing but their environment: they run as user 1000, on a read-only root, without capabilities. The
# base has glibc, as Temporal's library has no build for musl.
ARG BASE_IMAGE=docker.io/library/debian:12-slim
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY sdk/package.json sdk/
COPY ui/package.json ui/
COPY dev/stack/node dev/stack/node
RUN npm ci
COPY . .
RUN npm run build && npm run ui:build

# Only what runs: no tools, no peers that only other set-ups want, Temporal's library for this platform alone, and neither
# types nor source maps.
FROM ${NODE_IMAGE} AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY sdk/package.json sdk/
COPY ui/package.json ui/
COPY dev/stack/node dev/stack/node
RUN npm ci --omit=dev --omit=peer --omit=optional --workspaces=false \
  && cd node_modules/@temporalio/core-bridge/releases \
  && keep=$(uname -m)-unknown-linux-gnu && test -d "$keep" \
  && find . -mindepth 1 -maxdepth 1 ! -name "$keep" -exec rm -r {} + \
  && find /app/node_modules -type f \( -name '*.map' -o -name '*.d.[cm]ts' -o -name '*.d.ts' \) -delete

FROM ${BASE_IMAGE} AS service
# Temporal's library trusts the certificates of the system.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
# The names of the bundles in dist hold the lock file too.
COPY --from=build /app/package.json /app/package-lock.json /app/LICENSE ./
COPY --from=build /app/dist dist
COPY --from=build /app/ui/dist ui/dist
COPY ui/server.ts ui/
COPY ui/server ui/server
COPY activities activities
COPY api api
COPY core core
COPY docs/*.md docs/
COPY docs/model-providers docs/model-providers
COPY lib lib
COPY migrations migrations
COPY runtime runtime
COPY skills skills
COPY workers workers
COPY workflows workflows
ENV NODE_ENV=production
USER 1000:1000
STOPSIGNAL SIGTERM
EXPOSE 3000 3001
ENTRYPOINT ["node"]
CMD ["api/server.ts"]

# Sessions of personal model accounts run in bubblewrap. /var/lib/routines holds the state, on a volume.
FROM service AS runtime
USER root
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/routines
ENV MODEL_RUNTIME_STATE_DIR=/var/lib/routines
USER 1000:1000
EXPOSE 8443
CMD ["runtime/server.ts"]
