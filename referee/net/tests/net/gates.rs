//! A gate: who gets through to the socket behind it, and what they see where it is not there.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use referee_net::{ClientTls, Gate};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixListener},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::common::{AMPLE, Authority, Identity, client};

/// A gate that runs, and what lets somebody through.
struct Running {
    _folder: tempfile::TempDir,
    address: SocketAddr,
    ca: PathBuf,
    referee: Identity,
    socket: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    gate: JoinHandle<()>,
}

impl Running {
    async fn start(change: impl FnOnce(&mut Gate)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let ca = authority.file(folder.path(), "ca.pem");
        let tls = authority.signs(folder.path(), "gate").server(Some(&ca));
        let referee = authority.signs(folder.path(), "referee");
        let socket = folder.path().join("bot.sock");
        let mut gate = Gate::new(tls, Vec::new(), socket.clone());
        change(&mut gate);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopping = async {
            let _ = stopped.await;
        };
        let gate = tokio::spawn(gate.serve(listener, stopping, Duration::from_millis(200)));
        Self {
            _folder: folder,
            address,
            ca,
            referee,
            socket,
            stop: Some(stop),
            gate,
        }
    }

    /// A bot that says back what it hears.
    fn echo(&self) {
        let listener = UnixListener::bind(&self.socket).unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
    }

    fn trusted(&self) -> ClientTls {
        client(&self.ca, Some(&self.referee))
    }

    /// The answer to these bytes: all until the end.
    async fn said(&self, tls: ClientTls, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let talk = async {
            let stream = TcpStream::connect(self.address).await?;
            let mut stream = tls.connect("localhost", stream).await?;
            stream.write_all(bytes).await?;
            stream.shutdown().await?;
            let mut said = Vec::new();
            stream.read_to_end(&mut said).await?;
            Ok(said)
        };
        timeout(AMPLE, talk).await.unwrap()
    }
}

#[tokio::test]
async fn who_shows_a_certificate_reaches_the_socket_with_every_byte() {
    let gate = Running::start(|_| {}).await;
    gate.echo();
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    assert_eq!(gate.said(gate.trusted(), &bytes).await.unwrap(), bytes);
}

#[tokio::test]
async fn who_shows_none_or_one_of_another_authority_does_not() {
    let gate = Running::start(|_| {}).await;
    gate.echo();
    gate.said(client(&gate.ca, None), b"x").await.unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let stranger = Authority::new().signs(folder.path(), "stranger");
    let stranger = client(&gate.ca, Some(&stranger));
    gate.said(stranger, b"x").await.unwrap_err();
    assert_eq!(gate.said(gate.trusted(), b"x").await.unwrap(), b"x");
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_an_end_after_the_handshake() {
    let gate = Running::start(|_| {}).await;
    let stream = TcpStream::connect(gate.address).await.unwrap();
    let mut stream = gate.trusted().connect("localhost", stream).await.unwrap();
    let mut said = Vec::new();
    let ended = timeout(AMPLE, stream.read_to_end(&mut said)).await.unwrap();
    assert_eq!((ended.unwrap(), said.len()), (0, 0));
    // The bot starts, and is reached.
    gate.echo();
    assert_eq!(gate.said(gate.trusted(), b"x").await.unwrap(), b"x");
}

#[tokio::test]
async fn other_addresses_are_closed_before_a_handshake() {
    let from: IpAddr = "10.0.0.7".parse().unwrap();
    let gate = Running::start(|gate| gate.from = vec![from]).await;
    gate.echo();
    let stream = TcpStream::connect(gate.address).await.unwrap();
    let connecting = gate.trusted();
    let connecting = connecting.connect("localhost", stream);
    timeout(AMPLE, connecting).await.unwrap().unwrap_err();
    let ours = "127.0.0.1".parse().unwrap();
    let gate = Running::start(|gate| gate.from = vec![from, ours]).await;
    gate.echo();
    assert_eq!(gate.said(gate.trusted(), b"x").await.unwrap(), b"x");
}

#[tokio::test]
async fn there_are_so_many_connections_at_once_and_no_more() {
    let gate = Running::start(|gate| gate.connections = 1).await;
    gate.echo();
    let stream = TcpStream::connect(gate.address).await.unwrap();
    let held = gate.trusted().connect("localhost", stream).await.unwrap();
    gate.said(gate.trusted(), b"x").await.unwrap_err();
    drop(held);
    // The gate notices that it is gone.
    let freed = async {
        while gate.said(gate.trusted(), b"x").await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(AMPLE, freed).await.unwrap();
}

#[tokio::test]
async fn who_does_not_begin_a_handshake_is_closed() {
    let gate = Running::start(|gate| gate.handshake = Duration::from_millis(100)).await;
    let mut silent = TcpStream::connect(gate.address).await.unwrap();
    let ended = timeout(AMPLE, silent.read(&mut [0; 8])).await.unwrap();
    assert_eq!(ended.unwrap(), 0);
}

#[tokio::test]
async fn a_gate_that_is_stopped_takes_nobody_and_ends_when_its_grace_is_over() {
    let mut gate = Running::start(|_| {}).await;
    gate.echo();
    let stream = TcpStream::connect(gate.address).await.unwrap();
    let mut held = gate.trusted().connect("localhost", stream).await.unwrap();
    held.write_all(b"x").await.unwrap();
    assert_eq!(held.read_u8().await.unwrap(), b'x');
    gate.stop.take().unwrap().send(()).unwrap();
    timeout(AMPLE, &mut gate.gate).await.unwrap().unwrap();
    TcpStream::connect(gate.address).await.unwrap_err();
    let ended = timeout(AMPLE, held.read(&mut [0; 8])).await.unwrap();
    assert!(!matches!(ended, Ok(1..)), "{ended:?}");
}
