//! The handing over of a packed bot to its host, a container that waits for it
//! (`arena.v1.BotHost`).

use std::time::Duration;

use arena_proto::arena::v1::{
    TakeBotRequest, bot_host_client::BotHostClient, take_bot_request::Message,
};
use bytes::Bytes;
use tokio::time::{Instant, timeout_at};
use tokio_stream::iter;

use crate::{
    address::Address,
    dial::BotDial,
    presence::BotPresence,
    probe::{Probe, in_words},
};

/// Longest time for the connection to a host and for what it has to do with an archive.
const TAKEN_WITHIN: Duration = Duration::from_secs(120);

/// A packed bot for a host.
#[derive(Clone, Debug)]
pub struct HostedBot {
    /// Its SPEC: `packed:HASH:SPEC`.
    pub spec: String,
    /// The bytes of its archive.
    pub archive: Bytes,
}

/// Reason why a host has not taken its bot. It is never the bot's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not hand a packed bot over to the host at {address}: {why}")]
pub struct HandOverError {
    /// The address of the host.
    address: Address,
    /// The failure in words.
    why: String,
}

impl HandOverError {
    /// The archive of the bot for this host is not here.
    #[must_use]
    pub fn absent(address: &Address) -> Self {
        Self {
            address: address.clone(),
            why: "its archive is not on this machine".to_owned(),
        }
    }
}

impl BotDial {
    /// Hands a bot over to the host that listens at an address, and waits so long for the bot to
    /// answer there. One that does not answer by then fails in its games, as any other does.
    ///
    /// # Errors
    ///
    /// The host can't be reached, or refuses the bot.
    pub async fn hand_over(
        &self,
        address: &Address,
        bot: HostedBot,
        starts_within: Duration,
    ) -> Result<(), HandOverError> {
        let failed = |why: String| HandOverError {
            address: address.clone(),
            why,
        };
        let deadline = Instant::now() + TAKEN_WITHIN;
        let taken = timeout_at(deadline, async {
            let host = Probe::connect(address, self, TAKEN_WITHIN).await;
            let host = host.map_err(|error| error.to_string())?;
            let mut client = BotHostClient::new(host.channel());
            let taken = client.take_bot(iter(messages(bot))).await;
            taken.map_err(|status| in_words(&status))
        });
        match taken.await {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => return Err(failed(why)),
            Err(_) => return Err(failed(format!("no reply within {TAKEN_WITHIN:?}"))),
        }
        let deadline = Instant::now() + starts_within;
        let found = self.presence_by(address, deadline).await;
        if found != BotPresence::Answering {
            tracing::warn!(%address, ?found, "the packed bot does not answer");
        }
        Ok(())
    }
}

/// A bot as a host is told of it.
fn messages(bot: HostedBot) -> impl Iterator<Item = TakeBotRequest> + Send + 'static {
    let HostedBot { spec, archive } = bot;
    std::iter::once(Message::Spec(spec))
        .chain(parts(archive).map(Message::Part))
        .map(|message| TakeBotRequest {
            message: Some(message),
        })
}

/// The parts in which a file goes over the network, each small enough for a message.
pub fn parts(file: Bytes) -> impl Iterator<Item = Bytes> + Send + 'static {
    const PART: usize = 256 * 1024;
    (0..file.len()).step_by(PART).map(move |at| {
        let end = file.len().min(at + PART);
        file.slice(at..end)
    })
}
