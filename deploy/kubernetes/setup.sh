#!/bin/sh
# Makes the Secrets of the deployment as files, and renews certificates that end within 30 days:
#   setup.sh [--namespace NAME] [FOLDER]
# Then `kubectl apply -k FOLDER`, by default `secrets` beside this file. It needs OpenSSL 3 and no
# cluster. What is there stays, so it can be run at any time. No key is printed.
#
# FOLDER/authorities has the private keys of the two authorities, which no Secret contains: keep it
# as secret as the store. FOLDER/arena-store/url.env has the URL of the store, by default that of the
# bundled server; FOLDER/arena-store is yours to change. components/cert-manager makes the same Secrets,
# with the same keys, but for arena-store.
set -eu
umask 077

namespace=bot-arena
folder=$(cd "$(dirname "$0")" && pwd)/secrets
while [ $# -gt 0 ]; do
    case $1 in
    --namespace) namespace=${2:?"--namespace needs a name"} && shift 2 ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) folder=$1 && shift ;;
    esac
done

month=2592000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What openssl says is of interest only where it fails.
quietly() {
    "$@" 2>"$scratch/said" || { cat "$scratch/said" >&2 && exit 1; }
}
printf '[req]\ndistinguished_name = name\n[name]\n' >"$scratch/openssl.cnf"

# authority NAME
authority() {
    if [ ! -e "$folder/authorities/$1.pem" ]; then
        quietly openssl req -x509 -config "$scratch/openssl.cnf" \
            -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 -subj "/CN=bot-arena $1" \
            -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
            -addext keyUsage=critical,keyCertSign,cRLSign \
            -addext subjectKeyIdentifier=hash \
            -keyout "$folder/authorities/$1.key" -out "$scratch/new.pem"
        mv "$scratch/new.pem" "$folder/authorities/$1.pem"
    fi
}

# certificate AUTHORITY SECRET NAME USE HOST…: the Secret's tls.crt and tls.key, of a server with these
# names, or of a client that is called NAME; and its ca.crt, that of the authority. USE is serverAuth,
# clientAuth, or both with a comma.
certificate() {
    authority=$folder/authorities/$1 secret=$2 name=$3 use=$4
    shift 4
    hosts=
    for host in "${@:-$name}"; do hosts="$hosts${hosts:+, }DNS:$host"; done
    file=$folder/$secret/tls
    mkdir -p "$folder/$secret"
    # By these names they were there before.
    rm -f "$folder/$secret"/*.pem "$folder/$secret/$name.key"
    cp "$authority.pem" "$folder/$secret/ca.crt"
    if openssl verify -CAfile "$authority.pem" "$file.crt" >/dev/null 2>&1 &&
        openssl x509 -in "$file.crt" -noout -checkend "$month" >/dev/null &&
        openssl x509 -in "$file.crt" -noout -ext subjectAltName | grep -qxF "    $hosts"; then
        return
    fi
    quietly openssl req -x509 -config "$scratch/openssl.cnf" \
        -newkey ec -pkeyopt ec_paramgen_curve:P-256 -CA "$authority.pem" -CAkey "$authority.key" \
        -noenc -days 365 -subj "/CN=$name" -addext "subjectAltName=$hosts" \
        -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature \
        -addext "extendedKeyUsage=$use" -addext authorityKeyIdentifier=keyid \
        -keyout "$scratch/new.key" -out "$scratch/new.pem"
    mv "$scratch/new.key" "$file.key"
    mv "$scratch/new.pem" "$file.crt"
    echo "made a certificate of $name, for the Secret $secret"
}

# generator SECRET: all its files, as a kustomization says it.
generator() {
    printf '  - name: %s\n' "$1"
    for file in "$folder/$1"/*.env; do
        if [ -e "$file" ]; then printf '    envs: [%s/%s]\n' "$1" "${file##*/}"; fi
    done
    echo '    files:'
    for file in "$folder/$1"/*; do
        case $file in *.env) ;; *) printf '      - %s/%s\n' "$1" "${file##*/}" ;; esac
    done
}

mkdir -p "$folder/authorities" "$folder/arena-store"
# Whatever becomes of the folder, git is to leave it alone.
echo '*' >"$folder/.gitignore"

authority ca
# Whoever reads figures is no referee, so its certificate is of another authority.
authority metrics

inside=$namespace.svc
# With `arena`, the names that a Service has in its own and in other namespaces. The arena is a client
# of PostgreSQL.
certificate ca arena-tls arena serverAuth,clientAuth \
    arena "arena.$namespace" "arena.$inside" "arena.$inside.cluster.local"
certificate ca referee-tls referee clientAuth
certificate ca gate-tls gate serverAuth "*.bots.$inside"
certificate ca postgres-tls postgres serverAuth \
    postgres "postgres.$namespace" "postgres.$inside" "postgres.$inside.cluster.local"
certificate metrics metrics-tls prometheus clientAuth

url=$folder/arena-store/url.env
# The certificate for the bundled server was a file beside its URL before.
if grep -qs '^url=postgres://arena@postgres/arena?.*sslcert=/store/arena.pem' "$url"; then
    rm -f "$folder/arena-store"/*
fi
if [ ! -e "$url" ]; then
    keys="sslrootcert=/tls/ca.crt&sslcert=/tls/tls.crt&sslkey=/tls/tls.key"
    echo "url=postgres://arena@postgres/arena?sslmode=verify-full&$keys" >"$url"
fi

{
    echo '# Made by setup.sh.'
    echo 'apiVersion: kustomize.config.k8s.io/v1beta1'
    echo 'kind: Kustomization'
    echo "namespace: $namespace"
    echo 'labels:'
    echo '  - pairs: {app.kubernetes.io/part-of: bot-arena}'
    echo 'generatorOptions:'
    echo '  disableNameSuffixHash: true'
    echo 'secretGenerator:'
    for secret in arena-tls arena-store referee-tls gate-tls postgres-tls metrics-tls; do
        generator "$secret"
    done
} >"$folder/kustomization.yaml"
