# One image for every service of Chancery: `docker run chancery exchange`, `… collect`, `… transform`, `… up`.

FROM node:20-bookworm-slim AS build
# no: without the embedded ClickHouse, which only `up` and `warehouse` need.
ARG EMBEDDED_CLICKHOUSE=yes
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npx tsc -p tsconfig.image.json \
    && npm run --silent build:programs \
    && chmod 755 dist/cli/main.js \
    && npm prune --omit=dev --ignore-scripts \
    && if [ "$EMBEDDED_CLICKHOUSE" = no ]; then rm -rf node_modules/@chdb; fi

FROM node:20-bookworm-slim
ENV NODE_ENV=production CHANCERY_DATA=/data CHANCERY_METRICS_PORT=9464
WORKDIR /app
COPY --from=build /build/package.json ./package.json
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY --from=build /build/sql ./sql
COPY --from=build /build/dashboards ./dashboards
RUN ln -s /app/dist/cli/main.js /usr/local/bin/chancery && install -d -o node -g node -m 700 /data
USER node
# Every service serves its health here. Loopback is the only address that every container has.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CHANCERY_METRICS_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["chancery"]
CMD ["--help"]
