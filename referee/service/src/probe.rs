//! Access to one bot without a game: streams that the caller opens, asks and cancels, and the
//! health and reflection services of its server.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use referee_core::{Foul, ThinkingTime};
use referee_games::{Question, SeatReply};
use tokio_util::task::AbortOnDropHandle;
use tonic::{Status, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{
    address::Address,
    busy::BusyTime,
    connection::{BotConnection, ConnectError},
    dial::BotDial,
    heartbeat::Heartbeat,
    process::{BotProcess, judged},
    services::list_services,
    shortage::Shortage,
    stream::{Closed, SeatStream, TimedReply},
};

/// One connection to a bot that is listening.
pub struct Probe {
    connection: BotConnection,
    process: Option<Arc<BotProcess>>,
    heartbeat: Heartbeat,
    _beat: AbortOnDropHandle<()>,
}

/// One stream. Dropping it cancels it at once.
pub struct ProbeStream {
    stream: SeatStream,
    process: Option<Arc<BotProcess>>,
    /// What [`BotProcess::memory_kills`] said when it was opened.
    kills_before: u64,
    heartbeat: Heartbeat,
}

/// The reply to a question on a stream.
#[derive(Clone, Debug)]
pub struct ProbeReply {
    /// The response.
    pub heard: SeatReply,
    /// From handing over the question to reading the answer.
    pub thought: ThinkingTime,
}

/// The health of a bot, as it reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It serves.
    Serving,
    /// It answered something else.
    Otherwise(String),
    /// It did not answer.
    Silent,
}

impl Probe {
    /// Connects to a bot that runs somewhere, from this runtime.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub async fn connect(
        address: &Address,
        dial: &BotDial,
        within: Duration,
    ) -> Result<Self, ConnectError> {
        Self::open_connection(address, dial, None, within).await
    }

    /// Connects to a process that we started, so that a foul can tell how it ended.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub async fn of(process: Arc<BotProcess>, within: Duration) -> Result<Self, ConnectError> {
        let leader = process.first_process();
        let mut probe =
            Self::open_connection(process.address(), &BotDial::default(), leader, within).await?;
        probe.process = Some(process);
        Ok(probe)
    }

    async fn open_connection(
        address: &Address,
        dial: &BotDial,
        leader: Option<u32>,
        within: Duration,
    ) -> Result<Self, ConnectError> {
        let heartbeat = Heartbeat::default();
        let busy = Arc::new(BusyTime::new(heartbeat.clone()));
        let connection = BotConnection::open(address, dial, leader, busy, within).await?;
        let beat = AbortOnDropHandle::new(tokio::spawn(heartbeat.clone().beat()));
        Ok(Self {
            connection,
            process: None,
            heartbeat,
            _beat: beat,
        })
    }

    /// The channel of its connection, for services beside the games.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.connection.channel.clone()
    }

    /// The id of its process, where we started it.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        Some(self.process.as_ref()?.id())
    }

    /// The last lines that its process has printed, where we started it.
    #[must_use]
    pub fn last_output(&self) -> Vec<String> {
        let process = self.process.as_ref();
        process.map_or_else(Vec::new, |process| process.last_output())
    }

    /// Opens a stream of the call with this path.
    #[must_use]
    pub fn open(&self, path: &'static str, largest: usize) -> ProbeStream {
        ProbeStream {
            stream: SeatStream::open(self.connection.clone(), path, largest),
            process: self.process.clone(),
            kills_before: (self.process.as_ref()).map_or(0, |process| process.memory_kills()),
            heartbeat: self.heartbeat.clone(),
        }
    }

    /// Asks for the health of a service by `grpc.health.v1`; of the whole server where the
    /// name is empty.
    pub async fn health(&self, service: &str, within: Duration) -> Health {
        let mut client = HealthClient::new(self.connection.channel.clone());
        let request = HealthCheckRequest {
            service: service.to_owned(),
        };
        match tokio::time::timeout(within, client.check(request)).await {
            Err(_) => Health::Silent,
            Ok(Ok(response)) => match response.into_inner().status() {
                ServingStatus::Serving => Health::Serving,
                other => Health::Otherwise(other.as_str_name().to_owned()),
            },
            Ok(Err(status)) => Health::Otherwise(in_words(&status)),
        }
    }

    /// Checks that a server of gRPC answers: with its health, unless that is that it does not
    /// serve, or with any status, as one without a health service does.
    ///
    /// # Errors
    ///
    /// What came instead.
    pub async fn answers(&self, within: Duration) -> Result<(), String> {
        let mut client = HealthClient::new(self.connection.channel.clone());
        let asked = client.check(HealthCheckRequest::default());
        match tokio::time::timeout(within, asked).await {
            Err(_) => Err(format!("no answer within {within:?}")),
            Ok(Ok(response)) => match response.into_inner().status() {
                ServingStatus::Serving => Ok(()),
                other => Err(other.as_str_name().to_owned()),
            },
            // What our own end says has a cause; what the bot has sent has none.
            Ok(Err(status)) if std::error::Error::source(&status).is_some() => {
                Err(in_words(&status))
            }
            Ok(Err(_)) => Ok(()),
        }
    }

    /// The services that server reflection lists, by `grpc.reflection.v1` or else
    /// by `v1alpha`.
    ///
    /// # Errors
    ///
    /// What came instead.
    pub async fn services(&self, within: Duration) -> Result<Vec<String>, String> {
        let asking = list_services(&self.connection.channel);
        match tokio::time::timeout(within, asking).await {
            Ok(Ok(services)) => Ok(services),
            Ok(Err(status)) => Err(in_words(&status)),
            Err(_) => Err(format!("no answer within {within:?}")),
        }
    }
}

impl ProbeStream {
    /// Sends a notice without waiting.
    pub fn tell(&self, call: Bytes) {
        self.stream.tell(call);
    }

    /// Sends what is to be sent, waits so long, and reads nothing.
    pub async fn settle(&mut self, time: Duration) {
        self.stream.settle(time).await;
    }

    /// Asks and waits for the answer, at most until the limit.
    ///
    /// # Errors
    ///
    /// There is no response, and that is not the bot's fault.
    pub async fn ask(&mut self, question: Question) -> Result<ProbeReply, Shortage> {
        let TimedReply { heard, thought, .. } = self.stream.ask(question, &self.heartbeat).await;
        let heard = judged(self.process.as_deref(), self.kills_before, heard).await?;
        Ok(ProbeReply { heard, thought })
    }

    /// Ends the stream: closes our side, and waits so long until the bot has closed its own.
    pub async fn close(self, grace: Duration) -> Closed {
        self.stream.close(grace).await
    }
}

pub(crate) fn in_words(status: &Status) -> String {
    let (code, message) = (status.code(), status.message());
    if message.is_empty() {
        format!("{code:?}")
    } else {
        format!("{code:?}: {}", Foul::evidence(message))
    }
}
