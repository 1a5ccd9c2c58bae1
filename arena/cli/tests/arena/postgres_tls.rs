//! A store on a PostgreSQL server that requires TLS and a certificate of its clients.

use std::{fs, process::Output};

use crate::{postgres::Postgres, vocabulary::*};

/// An arena with a certificate, and the server that it is for.
struct Guarded {
    arena: Arena,
    postgres: Postgres,
}

impl Guarded {
    fn new() -> Self {
        let arena = Arena::new();
        done(&arena.run("certs init tls"));
        done(&arena.run("certs server tls --name localhost"));
        done(&arena.run("certs client tls arena"));
        done(&arena.run("certs client tls somebody"));
        // An authority that the server does not know.
        done(&arena.run("certs init other"));
        done(&arena.run("certs client other arena"));
        let postgres = Postgres::start_with_tls(&arena.path("tls"));
        Self { arena, postgres }
    }

    fn url(&self, host: &str, parameters: &str) -> String {
        let port = self.postgres.port();
        format!("postgres://arena:geheim@{host}:{port}/postgres?{parameters}")
    }

    fn run(&self, store: &str, line: &str) -> Output {
        let mut command = self.arena.command(line);
        // Every log line, of every crate.
        command.env("RUST_LOG", "trace").env("ARENA_STORE", store);
        command.output().unwrap()
    }

    /// It is refused with these words, and nothing is told that is a secret.
    fn refuses(&self, host: &str, parameters: &str, expected: &str) {
        let output = self.run(&self.url(host, parameters), "tournament list");
        let said = out(&output) + &err(&output);
        assert_eq!(output.status.code(), Some(2), "{parameters}: {said}");
        assert!(said.contains(expected), "{parameters}: {said}");
        self.tells_no_secret(&said);
    }

    fn tells_no_secret(&self, said: &str) {
        assert!(!said.contains("geheim"), "{said}");
        for key in ["tls/arena.key", "other/arena.key"] {
            let key = fs::read_to_string(self.arena.path(key)).unwrap();
            for line in key.lines() {
                assert!(!said.contains(line), "{said}");
            }
        }
    }
}

const PROVED: &str = "sslmode=verify-full&sslrootcert=tls/ca.pem";
const OURS: &str = "sslcert=tls/arena.pem&sslkey=tls/arena.key";

#[test]
fn a_tournament_runs_over_tls_with_a_client_certificate_on_postgres() {
    let guarded = Guarded::new();
    let store = guarded.url("localhost", &format!("{PROVED}&{OURS}"));
    let cup = "game = \"connect-four\"\nshape = \"round-robin\"\ndeals = 2\n\
               [[bots]]\nname = \"a\"\nbot = \"house:random\"\n\
               [[bots]]\nname = \"b\"\nbot = \"house:random\"\n";
    fs::write(guarded.arena.path("cup.toml"), cup).unwrap();
    let ran = guarded.run(&store, "tournament run cup.toml");
    done(&ran);
    guarded.tells_no_secret(&(out(&ran) + &err(&ran)));
    let verified = done(&guarded.run(&store, "tournament verify cup"));
    assert!(verified.contains("proved, 4 games"), "{verified}");
    // It proves the server as `verify-ca` does.
    let weaker = format!("sslmode=require&sslrootcert=tls/ca.pem&{OURS}");
    done(&guarded.run(&guarded.url("127.0.0.1", &weaker), "tournament list"));
}

#[test]
fn who_does_not_prove_itself_is_told_what_was_expected_on_postgres() {
    let guarded = Guarded::new();
    let refuses = |parameters: &str, expected: &str| {
        guarded.refuses("localhost", parameters, expected);
    };
    refuses(PROVED, "add sslcert=FILE&sslkey=FILE");
    refuses(
        &format!("{PROVED}&sslcert=tls/somebody.pem&sslkey=tls/somebody.key"),
        "common name of the certificate in sslcert must be the user's name",
    );
    refuses(
        &format!("{PROVED}&sslcert=other/arena.pem&sslkey=other/arena.key"),
        "expected that sslcert is valid now, and signed by an authority of the server's",
    );
    for mode in ["require", "verify-ca", "verify-full"] {
        refuses(
            &format!("sslmode={mode}&sslrootcert=other/ca.pem&{OURS}"),
            "signed by an authority in sslrootcert",
        );
    }
    refuses(
        &format!("sslmode=verify-full&{OURS}"),
        "signed by an authority that this machine trusts",
    );
    refuses(
        "sslmode=disable",
        "add sslmode=verify-full&sslrootcert=FILE",
    );
    guarded.refuses(
        "127.0.0.1",
        &format!("{PROVED}&{OURS}"),
        "expected a certificate for the host in the URL",
    );
}

#[test]
fn a_wrong_file_is_named_before_a_server_is_asked() {
    let arena = Arena::new();
    done(&arena.run("certs init tls"));
    done(&arena.run("certs client tls arena"));
    done(&arena.run("certs client tls somebody"));
    let refuses = |parameters: &str, expected: &str| {
        let mut command = arena.command("tournament list");
        // Nobody listens there.
        let url = format!("postgres://arena@127.0.0.1:1/db?sslmode=verify-full&{parameters}");
        let output = command.env("ARENA_STORE", url).output().unwrap();
        refused(&output, expected);
    };
    refuses(
        "sslrootcert=none.pem",
        "could not read a certificate in PEM",
    );
    refuses(
        "sslrootcert=tls/ca.key",
        "tls/ca.key: expected a certificate",
    );
    refuses(
        "sslcert=tls/arena.pem&sslkey=tls/arena.pem",
        "tls/arena.pem: expected a private key in PEM",
    );
    refuses(
        "sslcert=tls/arena.pem&sslkey=tls/somebody.key",
        "expected the private key of the certificate",
    );
}
