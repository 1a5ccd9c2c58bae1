//! Files that change while a server runs.

use referee_net::Bounds;

use crate::common::{Authority, Running, a_second_later, call, client};

#[tokio::test]
async fn new_connections_get_a_new_certificate_and_open_ones_live_on() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    let old_ca = old.file(folder.path(), "old-ca.pem");
    let new_ca = new.file(folder.path(), "new-ca.pem");
    let identity = old.signs(folder.path(), "server");
    let server = Running::start(Some(identity.server(None)), Bounds::default()).await;
    let open = server.channel(Some(client(&old_ca, None)));
    call(&open).await.unwrap();
    server.call(Some(client(&new_ca, None))).await.unwrap_err();
    let before = server.callers();

    new.signs(folder.path(), "renewed").replaces(&identity);
    a_second_later().await;
    server.call(Some(client(&new_ca, None))).await.unwrap();
    server.call(Some(client(&old_ca, None))).await.unwrap_err();
    server.callers();
    call(&open).await.unwrap();
    assert_eq!(server.callers()[0].address, before[0].address);
}

#[tokio::test]
async fn a_file_that_is_not_valid_any_more_leaves_the_old_one_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let ca = authority.file(folder.path(), "ca.pem");
    let identity = authority.signs(folder.path(), "server");
    let server = Running::start(Some(identity.server(None)), Bounds::default()).await;
    let good = std::fs::read(&identity.certificate).unwrap();
    let expired = authority.signs_until(folder.path(), "expired", 2020);
    let expired = std::fs::read(&expired.certificate).unwrap();
    for broken in [
        &b""[..],
        b"no certificate",
        &good[..good.len() / 2],
        &expired,
    ] {
        std::fs::write(&identity.certificate, broken).unwrap();
        a_second_later().await;
        server.call(Some(client(&ca, None))).await.unwrap();
    }
    std::fs::remove_file(&identity.certificate).unwrap();
    a_second_later().await;
    server.call(Some(client(&ca, None))).await.unwrap();
}

#[tokio::test]
async fn a_client_authority_that_is_replaced_lets_its_clients_in_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new(), Authority::new());
    let ca = ours.file(folder.path(), "ca.pem");
    let clients = ours.file(folder.path(), "clients.pem");
    let tls = ours.signs(folder.path(), "server").server(Some(&clients));
    let server = Running::start(Some(tls), Bounds::default()).await;
    let one = ours.signs(folder.path(), "one");
    let two = theirs.signs(folder.path(), "two");
    let client_one = client(&ca, Some(&one));
    server.call(Some(client_one.clone())).await.unwrap();
    server
        .call(Some(client(&ca, Some(&two))))
        .await
        .unwrap_err();
    theirs.file(folder.path(), "clients.pem");
    a_second_later().await;
    // Also with a ticket for the session that it had.
    server.call(Some(client_one)).await.unwrap_err();
    server.call(Some(client(&ca, Some(&two)))).await.unwrap();
}

#[tokio::test]
async fn a_client_dials_with_what_its_files_hold_then() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Authority::new(), Authority::new());
    let ca = old.file(folder.path(), "ca.pem");
    let tls = new.signs(folder.path(), "server").server(None);
    let server = Running::start(Some(tls), Bounds::default()).await;
    let channel = server.channel(Some(client(&ca, None)));
    call(&channel).await.unwrap_err();
    new.file(folder.path(), "ca.pem");
    a_second_later().await;
    call(&channel).await.unwrap();
}
