//! A connection to a bot, which all its games on one thread share.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use referee_net::causes;
use tokio::time::Instant;
use tonic::transport::Channel;
use tower::service_fn;

use crate::{
    address::Address,
    busy::{BusyTime, TimedExecutor},
    dial::BotDial,
    shortage::Shortage,
    traffic::{HEADERS_LIMIT, Metered, Traffic},
};

/// The step that a shortage keeps us from here.
pub(crate) const OPENING: &str = "open a connection";

/// A connection that is open.
#[derive(Clone, Debug)]
pub(crate) struct BotConnection {
    pub(crate) channel: Channel,
    /// The traffic that the bot has sent on it.
    pub(crate) traffic: Arc<Traffic>,
    /// Time that this thread has spent on the bot.
    pub(crate) busy: Arc<BusyTime>,
    /// Number of games that are played on it.
    pub(crate) playing: Arc<AtomicU64>,
}

/// The break of a connection that was open.
#[derive(Debug)]
pub(crate) enum Broken {
    /// In these words. How the bot's process ended may say more.
    ByBot(String),
    /// We lack what it needs.
    ByUs(Shortage),
}

/// Reason why there is no connection to a bot.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nothing answers there, or not the bot.
    #[error("{0}")]
    Failed(String),
    /// We lack what a connection needs.
    #[error(transparent)]
    Shortage(#[from] Shortage),
}

impl BotConnection {
    /// Opens a connection. Where `leader` is the process that was started for it, only this
    /// process and its descendants may listen there.
    pub(crate) async fn open(
        address: &Address,
        dial: &BotDial,
        leader: Option<u32>,
        busy: Arc<BusyTime>,
        within: Duration,
    ) -> Result<Self, ConnectError> {
        let failed = |error: &dyn std::error::Error| {
            let why = causes(error);
            ConnectError::Failed(format!("nothing answers at {address}: {why}"))
        };
        let deadline = Instant::now() + within;
        let opening = tokio::time::timeout_at(deadline, dial.open(address, leader));
        let first = match opening.await {
            Ok(Ok(socket)) => socket,
            Ok(Err(error)) => {
                return Err(match Shortage::of(OPENING, error) {
                    Ok(shortage) => ConnectError::Shortage(shortage),
                    // It may well answer: we do not want to, or do not trust it. Or its name could
                    // not be resolved, which never tells why.
                    Err(error) if error.raw_os_error().is_none() => match Shortage::now(OPENING) {
                        Some(shortage) => ConnectError::Shortage(shortage),
                        None => {
                            ConnectError::Failed(format!("could not connect to {address}: {error}"))
                        }
                    },
                    Err(error) => failed(&error),
                });
            }
            Err(_) => return Err(silent(address, within)),
        };
        let traffic = Arc::new(Traffic::new());
        let first = Arc::new(Mutex::new(Some(first)));
        let metered = traffic.clone();
        let listens = address.clone();
        let dial = dial.clone();
        // Where the connection breaks and a further game is to be played, it is opened again.
        let connector = service_fn(move |_| {
            let first = first.lock().take();
            let (listens, dial, traffic) = (listens.clone(), dial.clone(), metered.clone());
            async move {
                let socket = match first {
                    Some(socket) => socket,
                    None => dial.open(&listens, leader).await?,
                };
                Ok::<_, io::Error>(TokioIo::new(Metered::new(socket, traffic)))
            }
        });
        let endpoint = address.endpoint().map_err(|error| failed(&error))?;
        // Answers are small, and windows of this size bound the memory that a bot which
        // sends without end can make us use.
        let endpoint = endpoint
            .initial_stream_window_size(128 * 1024)
            .initial_connection_window_size(8 * 1024 * 1024)
            .http2_max_header_list_size(HEADERS_LIMIT)
            .executor(TimedExecutor(busy.clone()));
        let connecting = endpoint.connect_with_connector(connector);
        match tokio::time::timeout_at(deadline, connecting).await {
            Ok(Ok(channel)) => Ok(Self {
                channel,
                traffic,
                busy,
                playing: Arc::default(),
            }),
            Ok(Err(error)) => Err(match Shortage::behind(OPENING, &error) {
                Some(shortage) => ConnectError::Shortage(shortage),
                None => failed(&error),
            }),
            Err(_) => Err(silent(address, within)),
        }
    }

    /// True if the bot's server allows one more stream. A client that opens more than that
    /// waits (RFC 9113, section 5.1.2), and the bot would lose time that it has not used.
    pub(crate) fn has_room(&self) -> bool {
        self.playing.load(Ordering::Relaxed) < self.traffic.streams().max(1).into()
    }
}

fn silent(address: &Address, within: Duration) -> ConnectError {
    ConnectError::Failed(format!("nothing answers at {address} within {within:?}"))
}
