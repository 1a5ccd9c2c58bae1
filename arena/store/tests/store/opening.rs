//! Opening: what is made, and what is refused with which words.

use std::{fs, os::unix::fs::PermissionsExt as _};

use arena_store::{Store, StoreError};

use crate::vocabulary::{Home, new_tournament, on_both};

on_both!(
    what_a_newer_arena_has_written_is_refused,
    somebody_elses_database_is_refused_and_left_alone,
    two_may_open_a_new_store_at_the_same_moment,
);

async fn what_a_newer_arena_has_written_is_refused(home: &Home) {
    home.open().await.close().await;
    home.run(
        "INSERT INTO arena_store_versions
             (version, description, success, checksum, execution_time)
         SELECT 9999, 'what is to come', success, checksum, execution_time
         FROM arena_store_versions WHERE version = 1",
    )
    .await;
    let error = Store::open(&home.url()).await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 9999,
                known: 10,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("use that arena, or another database")
    );
}

async fn somebody_elses_database_is_refused_and_left_alone(home: &Home) {
    home.run("CREATE TABLE accounts (id BIGINT)").await;
    let error = Store::open(&home.url()).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    // What is not there can't be dropped.
    home.run("DROP TABLE accounts").await;
    home.open().await;
}

async fn two_may_open_a_new_store_at_the_same_moment(home: &Home) {
    let opened = futures_of(home).await;
    for (number, store) in opened.into_iter().enumerate() {
        let store = store.unwrap();
        let name = format!("by {number}");
        store.create(&new_tournament(&name, 2)).await.unwrap();
    }
}

async fn futures_of(home: &Home) -> Vec<Result<Store, StoreError>> {
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let url = home.url();
        opening.spawn(async move { Store::open(&url).await });
    }
    opening.join_all().await
}

#[tokio::test]
async fn a_file_is_made_with_its_folder_and_its_owner_alone_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder 100%/a ? b # c.db");
    for url in [
        path.display().to_string(),
        format!("sqlite:{}", path.display()),
    ] {
        let store = Store::open(&url).await.unwrap();
        store.bots().await.unwrap();
        for ending in ["", "-wal", "-shm"] {
            let mut path = path.clone().into_os_string();
            path.push(ending);
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{ending}");
        }
        store.close().await;
    }
    let names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["a ? b # c.db"]);
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let notes = "no database at all; ".repeat(100);
    fs::write(&path, &notes).unwrap();
    let error = Store::open(path.to_str().unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("no SQLite database"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), notes);

    for url in ["", "sqlite:", "sqlite://", "mysql://host/db", "folder/"] {
        let error = Store::open(url).await.unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{url}: {error}");
    }
    let below_a_file = path.join("arena.db");
    let error = Store::open(below_a_file.to_str().unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_at_once_and_without_the_password() {
    // Nobody listens on a port that was just given back.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("postgres://me:geheim@127.0.0.1:{port}/arena");
    let error = Store::open(&url).await.unwrap_err().to_string();
    assert!(error.contains("no server answers"), "{error}");
    assert!(
        error.contains(&format!("postgres://me@127.0.0.1:{port}/arena")),
        "{error}"
    );
    assert!(!error.contains("geheim"), "{error}");
}

#[tokio::test]
async fn a_wrong_parameter_of_a_server_is_refused_without_a_secret() {
    for (url, expected) in [
        (
            "me@host/db?sslmode=full",
            "expected sslmode=disable, allow,",
        ),
        (
            "me@host/db?sslpassword=geheim",
            "unknown parameter sslpassword; expected sslmode, ",
        ),
        ("me:1?geheim@host/db", "/ as %2F, ? as %3F"),
        ("me:1#geheim@host/db", "unexpected # or @ in the URL"),
        ("me:geheim/@host/db", "/ as %2F, ? as %3F"),
        ("me:1/geheim@host/db", "unexpected # or @ in the URL"),
        (
            "me@host/db?sslmode=require&sslcert=a.pem",
            "sslcert needs sslkey=FILE",
        ),
        (
            "me@host/db?sslmode=require&sslkey=a.key",
            "sslkey needs sslcert=FILE",
        ),
        ("me@host/db?sslmode=require&sslkey=", "expected sslkey=FILE"),
        (
            "me@host/db?sslmode=require&sslkey=-----BEGIN%20PRIVATE%20KEY-----geheim",
            "expected sslkey=FILE",
        ),
        (
            "me@host/db?sslcert=a.pem&sslkey=a.key",
            "add sslmode=verify-full",
        ),
    ] {
        let error = Store::open(&format!("postgres://{url}")).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains(expected), "{url}: {error}");
        assert!(!error.contains("geheim"), "{url}: {error}");
    }
}
