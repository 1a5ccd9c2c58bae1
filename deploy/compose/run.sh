#!/bin/sh
# The deployment of compose.yaml by plain `docker` commands:
#   run.sh up                      starts everything and queues tournament.toml. What runs is
#                                  replaced; no game is lost, since workers are stopped first
#   run.sh create                  makes all containers and starts none
#   run.sh down [--volumes]        removes containers and networks; with --volumes all data too
# These work with what Compose has started, too:
#   run.sh status                  shows containers, workers and tournaments
#   run.sh submit FILE [OPTION…]   queues another tournament
#   run.sh backup >FILE            writes all tournaments into a file, also while games are played
#   run.sh restore <FILE           takes all tournaments from a file; what is there is lost
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# As Compose does it: the file, unless the environment says something else.
while IFS='=' read -r name value; do
    case $name in
    '' | \#*) ;;
    *) eval "$name=\${$name-\$value}" ;;
    esac
done <"$here/.env"
project=$COMPOSE_PROJECT_NAME

oneshots="setup submit"
workers="worker-1 worker-2"
bots="rust cpp python node"
# In the order in which they are stopped.
everything="$workers $bots submit arena postgres prometheus setup"
closed="store work metrics $bots"
volumes="authorities tls-arena tls-store tls-postgres tls-worker-1 tls-worker-2 tls-prometheus \
postgres arena prometheus"

# container NAME NETWORKS OPTION… IMAGE WORD…: makes a container with what all of them have. The
# networks are in one word.
container() {
    name=$1 networks=$2
    shift 2
    case " $oneshots " in
    *" $name "*) restart=no ;;
    *) restart=unless-stopped ;;
    esac
    case $networks in
    none) set -- --network none "$@" ;;
    *) set -- --network "$project-${networks%% *}" --network-alias "$name" "$@" ;;
    esac
    docker create --name "$project-$name" --pull never --restart "$restart" --read-only \
        --cap-drop ALL --security-opt no-new-privileges:true \
        --log-driver json-file --log-opt max-size=10m --log-opt max-file=3 "$@" >/dev/null
    for network in $networks; do
        if [ "$network" != "${networks%% *}" ]; then
            docker network connect --alias "$name" "$project-$network" "$project-$name"
        fi
    done
}

# image NAME: with the version of this deployment.
image() {
    echo "$BOT_ARENA_REGISTRY/$1:$BOT_ARENA_VERSION"
}

# memory SIZE: no more than that, and no swap besides.
memory() {
    echo "--memory $1 --memory-swap $1"
}

# start NAME…
start() {
    for name in "$@"; do docker start "$project-$name" >/dev/null; done
}

# finish NAME: waits until a container that ends by itself has done so, and shows what it said.
finish() {
    docker start --attach "$project-$1"
}

# What is not there can't be stopped, and need not be.
remove_containers() {
    for name in $everything grafana; do
        docker stop "$project-$name" >/dev/null 2>&1 || true
        docker rm "$project-$name" >/dev/null 2>&1 || true
    done
}

make_networks() {
    for network in $closed; do
        docker network inspect "$project-$network" >/dev/null 2>&1 ||
            docker network create --internal \
                --opt com.docker.network.bridge.inhibit_ipv4=true "$project-$network" >/dev/null
    done
    docker network inspect "$project-front" >/dev/null 2>&1 ||
        docker network create "$project-front" >/dev/null
}

make_containers() {
    container setup none --user 0:0 --cap-add CHOWN --cap-add DAC_OVERRIDE --cap-add FOWNER \
        --tmpfs /tmp:size=16m --volume "$here/setup.sh:/setup.sh:ro" \
        --volume "$project-authorities:/authorities" \
        --volume "$project-tls-arena:/tls/arena" \
        --volume "$project-tls-store:/tls/store" \
        --volume "$project-tls-postgres:/tls/postgres" \
        --volume "$project-tls-worker-1:/tls/worker-1" \
        --volume "$project-tls-worker-2:/tls/worker-2" \
        --volume "$project-tls-prometheus:/tls/prometheus" \
        --entrypoint sh "$(image postgres)" /setup.sh

    # The functions give several words.
    # shellcheck disable=SC2046
    container postgres store --tmpfs /tmp:size=64m --shm-size 128m $(memory 1g) --pids-limit 256 \
        --stop-timeout 60 --volume "$project-postgres:/data" \
        --volume "$project-tls-postgres:/tls:ro" \
        --health-cmd "pg_isready --quiet" --health-interval 2s --health-timeout 5s \
        --health-retries 30 "$(image postgres)"

    keys="sslrootcert=/store/ca.pem&sslcert=/store/arena.pem&sslkey=/store/arena.key"
    store="ARENA_STORE=postgres://arena@postgres/arena?sslmode=verify-full&$keys"
    # shellcheck disable=SC2046
    container arena "store work metrics front" --tmpfs /tmp:size=64m $(memory 512m) --pids-limit 256 \
        --stop-timeout 30 --volume "$project-arena:/data" --volume "$project-tls-arena:/tls:ro" \
        --volume "$project-tls-store:/store:ro" --env "$store" --env ARENA_SANDBOX=off \
        --env ARENA_CACHE=/tmp/cache \
        --publish "127.0.0.1:$PAGE_PORT:8080" \
        "$(image arena)" serve --listen=0.0.0.0:50060 --concurrency=0 \
        --lease=20s --page=0.0.0.0:8080 --people=20 --people-folder=/data/people --tls-cert=/tls/arena.pem --tls-key=/tls/arena.key \
        --tls-client-ca=/tls/ca.pem \
        --metrics=0.0.0.0:9100 --metrics-tls-cert=/tls/arena.pem \
        --metrics-tls-key=/tls/arena.key --metrics-tls-client-ca=/tls/metrics.pem
    # shellcheck disable=SC2046
    container submit store --tmpfs /tmp:size=16m $(memory 128m) --pids-limit 64 \
        --volume "$here/tournament.toml:/tournament.toml:ro" \
        --volume "$project-tls-store:/store:ro" --env "$store" \
        "$(image arena)" tournament submit /tournament.toml

    for worker in $workers; do
        # shellcheck disable=SC2046
        container "$worker" "work $bots" --tmpfs /tmp:size=256m $(memory 512m) --pids-limit 512 \
            --stop-timeout 30 --volume "$project-tls-$worker:/tls:ro" \
            --env ARENA_URL=https://arena:50060 --env ARENA_CA=/tls/ca.pem \
            --env "ARENA_CERT=/tls/$worker.pem" --env "ARENA_KEY=/tls/$worker.key" \
            --env ARENA_CACHE=/tmp/cache --env ARENA_CONCURRENCY=2 --env ARENA_SANDBOX=off \
            --env REFEREE_BOTS=rust:50051,cpp:50051,python:50051,node:50051 \
            "$(image referee)" work
    done
    for bot in $bots; do
        # shellcheck disable=SC2046
        container "$bot" "$bot" --tmpfs /tmp:size=64m --dns 192.0.2.1 $(memory 256m) \
            --pids-limit 128 --cpus 1 --stop-timeout 10 "$(image "sample-$bot")"
    done

    # shellcheck disable=SC2046
    container prometheus "metrics front" $(memory 512m) --pids-limit 128 --stop-timeout 30 \
        --volume "$here/prometheus.yml:/etc/prometheus/prometheus.yml:ro" \
        --volume "$project-prometheus:/data" --volume "$project-tls-prometheus:/tls:ro" \
        --publish "127.0.0.1:$PROMETHEUS_PORT:9090" "$(image prometheus)"
}

wait_for_postgres() {
    for _ in $(seq 150); do
        health=$(docker inspect --format '{{.State.Health.Status}}' "$project-postgres")
        if [ "$health" = healthy ]; then return; fi
        sleep 0.4
    done
    echo "PostgreSQL does not answer: docker logs $project-postgres" >&2
    exit 1
}

create() {
    remove_containers
    make_networks
    make_containers
}

up() {
    create
    finish setup
    # shellcheck disable=SC2086
    start $bots postgres prometheus
    wait_for_postgres
    start arena
    # It is there already after the first time.
    finish submit || true
    # shellcheck disable=SC2086
    start $workers
}

down() {
    remove_containers
    for network in $closed front; do
        docker network rm "$project-$network" >/dev/null 2>&1 || true
    done
    if [ "${1-}" = --volumes ]; then
        for volume in $volumes; do docker volume rm "$project-$volume" >/dev/null; done
    fi
}

status() {
    docker ps --all --filter "name=^$project-" --format 'table {{.Names}}\t{{.Status}}'
    docker exec "$project-arena" arena workers
    docker exec "$project-arena" arena tournament list
}

submit() {
    if [ $# = 0 ]; then
        echo "run.sh submit: expected a tournament's file, as in: run.sh submit spring.toml" >&2
        exit 2
    elif [ ! -f "$1" ]; then
        echo "run.sh submit: there is no file $1" >&2
        exit 2
    fi
    file=$1
    shift
    docker cp "$file" "$project-arena:/data/submitted.toml"
    docker exec "$project-arena" arena tournament submit submitted.toml "$@"
}

backup() {
    docker exec "$project-postgres" pg_dump --format custom
}

restore() {
    for name in $workers arena; do docker stop "$project-$name" >/dev/null; done
    docker exec "$project-postgres" dropdb --username postgres --force arena
    docker exec "$project-postgres" createdb --username postgres --owner arena arena
    docker exec --interactive "$project-postgres" pg_restore --dbname arena --exit-on-error
    # shellcheck disable=SC2086
    start arena $workers
}

case ${1-} in
up | create | status | backup | restore) "$1" ;;
down | submit) "$@" ;;
*)
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
