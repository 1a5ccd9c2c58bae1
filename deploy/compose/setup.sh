#!/bin/sh
# Makes the certificates of the deployment, and renews those that end within 30 days. Each private
# key goes only into the volume of the container that shows its certificate; those of the two
# authorities stay in a volume that no other container has. Programs read new files by themselves.
set -eu
umask 077

# The user of all images.
owner=10001:10001
month=2592000
# What openssl says is of interest only where it fails.
quietly() {
    "$@" 2>/tmp/said || { cat /tmp/said >&2 && exit 1; }
}
printf '[req]\ndistinguished_name = name\n[name]\n' >/tmp/openssl.cnf

# authority NAME
authority() {
    if [ ! -e "/authorities/$1.pem" ]; then
        quietly openssl req -x509 -config /tmp/openssl.cnf \
            -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 -subj "/CN=bot-arena $1" \
            -addext basicConstraints=critical,CA:TRUE,pathlen:0 \
            -addext keyUsage=critical,keyCertSign,cRLSign \
            -addext subjectKeyIdentifier=hash \
            -keyout "/authorities/$1.key" -out /tmp/new.pem
        mv /tmp/new.pem "/authorities/$1.pem"
    fi
}

# certificate AUTHORITY FOLDER NAME server|client: a server of this host name, or a client that is
# called so.
certificate() {
    file=/tls/$2/$3
    if openssl verify -CAfile "/authorities/$1.pem" "$file.pem" >/dev/null 2>&1 &&
        openssl x509 -in "$file.pem" -noout -checkend "$month" >/dev/null; then
        return
    fi
    quietly openssl req -x509 -config /tmp/openssl.cnf \
        -newkey ec -pkeyopt ec_paramgen_curve:P-256 -CA "/authorities/$1.pem" -CAkey "/authorities/$1.key" \
        -noenc -days 365 -subj "/CN=$3" -addext "subjectAltName=DNS:$3" \
        -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,digitalSignature \
        -addext "extendedKeyUsage=$4Auth" -addext authorityKeyIdentifier=keyid \
        -keyout "$file.key.new" -out "$file.pem.new"
    chmod 644 "$file.pem.new"
    mv "$file.key.new" "$file.key"
    mv "$file.pem.new" "$file.pem"
    echo "made a certificate of the $4 $3, for /tls/$2"
}

# trusted AUTHORITY FILE: whom the holder of this file is to trust.
trusted() {
    install -m 644 "/authorities/$1.pem" "$2"
}

authority ca
# Whoever reads metrics is no worker, so its certificate is of another authority.
authority metrics

certificate ca arena arena server
certificate ca store arena client
certificate ca postgres postgres server
certificate ca worker-1 worker-1 client
certificate ca worker-2 worker-2 client
certificate metrics prometheus prometheus client

for folder in arena store postgres worker-1 worker-2 prometheus; do
    trusted ca "/tls/$folder/ca.pem"
done
trusted metrics /tls/arena/metrics.pem
chown -R "$owner" /tls/*
