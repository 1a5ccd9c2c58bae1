//! Bots of a tournament that somebody else has started for this worker, as Kubernetes starts the
//! containers of a pod: where they listen, and how long they are waited for.

use std::{collections::HashMap, fmt, str::FromStr, time::Duration};

use clap::Args;
use futures_util::future::join_all;
use referee::{Address, BotDial, BotPresence};
use referee_bots::{BotAddress, Entry};
use referee_worker::remote::WAITING_FOR_BOTS;
use tokio::time::Instant;

use crate::{TryAgain, usage};

/// The text between an address and its user.
const USER: &str = ",uid=";

/// A bot of the tournament and where it listens: `NAME=ADDRESS`, or `NAME=unix:PATH,uid=N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotAt {
    /// The bot's name in the tournament.
    pub name: String,
    /// The address that it listens at.
    pub at: BotAddress,
}

/// A text that does not say where a bot listens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; expected NAME=ADDRESS as in a=grpcs://10.0.0.7:50051, or a=unix:/run/a/bot.sock,uid=10100"
)]
pub struct BadBotAt(String);

/// Where bots listen that somebody else has started.
#[derive(Args, Clone, Debug)]
pub struct BotAtArgs {
    /// The tournament's bot NAME runs already and listens at ADDRESS, whatever its SPEC says:
    /// unix:PATH, grpc://HOST:PORT or grpcs://HOST:PORT, once for each bot. This worker neither
    /// starts it nor needs --bots for it. With ,uid=N behind a unix:PATH the process that listens
    /// there must be of that user.
    #[arg(long = "bot-at", value_name = "NAME=ADDRESS")]
    bots_at: Vec<BotAt>,
    /// How long to wait for the bots of --bot-at before the first game. Then a bot at a unix:PATH
    /// loses its games; for one at another address, where nothing takes a connection, the exit
    /// code is 75.
    #[arg(
        long = "bots-within",
        env = "REFEREE_BOTS_WITHIN",
        value_name = "TIME",
        default_value = "5m",
        value_parser = humantime::parse_duration
    )]
    bots_within: Duration,
}

impl FromStr for BotAt {
    type Err = BadBotAt;

    fn from_str(text: &str) -> Result<Self, BadBotAt> {
        let bad = |why: &dyn fmt::Display| BadBotAt(why.to_string());
        let (name, rest) = text
            .split_once('=')
            .ok_or_else(|| bad(&format!("\"{text}\" has no name")))?;
        Entry::check_name(name).map_err(|error| bad(&error))?;
        let (address, user) = match rest.rsplit_once(USER) {
            None => (rest, None),
            Some((address, user)) => {
                let user: u32 = user
                    .parse()
                    .map_err(|_| bad(&format!("\"{user}\" is no number of a user")))?;
                (address, Some(user))
            }
        };
        let address: Address = address.parse().map_err(|error| bad(&error))?;
        if user.is_some() && !matches!(address, Address::Unix(_)) {
            return Err(bad(&format!(
                "the user of {address} is not known: only unix:PATH can have uid=N"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            at: BotAddress { address, user },
        })
    }
}

impl BotAtArgs {
    /// True if no bot was said to run already.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bots_at.is_empty()
    }

    /// Addresses of the bots, by name.
    #[must_use]
    pub fn addresses(&self) -> HashMap<String, BotAddress> {
        let bots = self.bots_at.iter();
        bots.map(|bot| (bot.name.clone(), bot.at.clone())).collect()
    }

    /// Checks that they can be dialled with these settings, each for itself.
    ///
    /// # Errors
    ///
    /// Two have one name or one address, or there are no files for TLS.
    pub fn check(&self, dial: &BotDial) -> anyhow::Result<()> {
        for (number, bot) in self.bots_at.iter().enumerate() {
            let (name, address) = (&bot.name, &bot.at.address);
            let mut before = self.bots_at[..number].iter();
            if before.any(|other| other.name == *name) {
                return usage(format!(
                    "--bot-at: {name} is given twice: give each bot once"
                ));
            }
            let mut before = self.bots_at[..number].iter();
            if let Some(other) = before.find(|other| other.at.address == *address) {
                return usage(format!(
                    "--bot-at: {name} and {} are both at {address}: give each bot an address of \
                     its own",
                    other.name
                ));
            }
            if matches!(address, Address::Tls(_)) && dial.tls.is_none() {
                return usage(format!(
                    "--bot-at: {address} has TLS: name the certificate authority of the bots \
                     (--bots-ca FILE)"
                ));
            }
        }
        Ok(())
    }

    /// Waits until all of them answer, or until the time is over: then those that something can
    /// be connected to, and those at Unix sockets, lose their games as the rules say.
    ///
    /// # Errors
    ///
    /// [`TryAgain`]: nothing takes a connection for a bot on a network. That is not the bot's
    /// fault: what it runs in is not there.
    pub async fn wait(&self, dial: &BotDial) -> anyhow::Result<()> {
        if self.bots_at.is_empty() {
            return Ok(());
        }
        let within = humantime::format_duration(self.bots_within);
        tracing::info!(%within, bots = self.bots_at.len(), "{WAITING_FOR_BOTS}");
        let deadline = Instant::now() + self.bots_within;
        let waiting = self.bots_at.iter().map(|bot| wait_for(bot, dial, deadline));
        let absent = join_all(waiting).await.into_iter().flatten();
        let absent: Vec<String> = absent.collect();
        if absent.is_empty() {
            return Ok(());
        }
        Err(TryAgain(format!(
            "could not connect to {} within {within} (--bots-within); expected its pod or machine \
             to be there and to let this worker in: see whether it was started, then try again",
            absent.join(" and ")
        ))
        .into())
    }
}

/// Waits for one bot. Says where it is and why it can't be reached, if that is the system's fault.
async fn wait_for(bot: &BotAt, dial: &BotDial, deadline: Instant) -> Option<String> {
    let (name, BotAddress { address, user }) = (&bot.name, &bot.at);
    let dial = BotDial {
        user: *user,
        ..dial.clone()
    };
    let found = dial.presence_by(address, deadline).await;
    if found == BotPresence::Answering {
        tracing::info!(name, %address, "the bot is there");
    }
    missed(name, address, found)
}

/// The reason not to begin when a bot did not answer in time; none where the games begin anyway.
fn missed(name: &str, address: &Address, found: BotPresence) -> Option<String> {
    let (is_there, why) = match found {
        BotPresence::Answering => return None,
        BotPresence::Absent(why) => (matches!(address, Address::Unix(_)), why),
        BotPresence::Silent(why) => (true, why),
    };
    if !is_there {
        return Some(format!("the bot {name} at {address}: {why}"));
    }
    tracing::warn!(name, %address, why, "the bot does not answer; its games begin all the same");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BotAt, String> {
        text.parse::<BotAt>().map_err(|error| error.to_string())
    }

    fn args(bots: &[&str], within: Duration) -> BotAtArgs {
        BotAtArgs {
            bots_at: bots.iter().map(|text| text.parse().unwrap()).collect(),
            bots_within: within,
        }
    }

    #[test]
    fn names_addresses_and_users_are_read() {
        for (text, name, address, user) in [
            ("a=unix:/run/a/bot.sock", "a", "unix:/run/a/bot.sock", None),
            (
                "best-2.0=unix:/run/a,b=c/bot.sock,uid=10100",
                "best-2.0",
                "unix:/run/a,b=c/bot.sock",
                Some(10100),
            ),
            ("a=grpc://h:1", "a", "tcp:h:1", None),
            (
                "a=grpcs://p-b0.bots.x.svc:50051",
                "a",
                "grpcs://p-b0.bots.x.svc:50051",
                None,
            ),
        ] {
            let found = read(text).unwrap();
            assert_eq!(found.name, name);
            assert_eq!(found.at.address.to_string(), address);
            assert_eq!(found.at.user, user);
        }
    }

    #[test]
    fn what_does_not_say_where_a_bot_is_is_refused() {
        for (text, says) in [
            ("unix:/run/a", "has no name"),
            ("=unix:/run/a", "a name is 1 to 40"),
            ("a=house:random", "is no address"),
            ("a=unix:/run/a,uid=x", "\"x\" is no number of a user"),
            ("a=unix:/run/a,uid=-1", "is no number of a user"),
            ("a=grpc://h:1,uid=1", "only unix:PATH can have uid=N"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
            assert!(why.contains("expected NAME=ADDRESS"), "{text}: {why}");
        }
    }

    #[test]
    fn bots_have_names_and_addresses_of_their_own_and_tls_has_files() {
        let dial = BotDial::default();
        for (bots, says) in [
            (["a=grpc://h:1", "a=grpc://h:2"], "a is given twice"),
            (["a=grpc://h:1", "b=tcp:h:1"], "b and a are both at tcp:h:1"),
            (["a=grpcs://h:1", "b=unix:/x"], "--bots-ca FILE"),
        ] {
            let args = args(&bots, Duration::ZERO);
            let why = args.check(&dial).unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        }
        let fine = args(&["a=grpc://h:1", "b=unix:/x"], Duration::ZERO);
        fine.check(&dial).unwrap();
    }

    #[tokio::test]
    async fn a_bot_at_a_socket_that_is_not_there_is_its_own_fault() {
        let args = args(&["a=unix:/there/is/none"], Duration::from_millis(100));
        let began = Instant::now();
        args.wait(&BotDial::default()).await.unwrap();
        assert!(began.elapsed() >= Duration::from_millis(50));
    }

    #[tokio::test]
    async fn a_bot_whose_machine_is_not_there_is_to_be_tried_again() {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let args = args(
            &["a=unix:/there/is/none", &format!("b=grpc://{address}")],
            Duration::from_millis(100),
        );
        let error = args.wait(&BotDial::default()).await.unwrap_err();
        assert!(error.is::<TryAgain>());
        let why = error.to_string();
        let says = format!("the bot b at tcp:{address}: Connection refused");
        assert!(why.contains(&says) && !why.contains("bot a"), "{why}");
    }

    #[tokio::test]
    async fn a_bot_that_takes_connections_and_says_nothing_is_its_own_fault() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bot = format!("a=grpc://{}", listener.local_addr().unwrap());
        let args = args(&[&bot], Duration::from_millis(100));
        args.wait(&BotDial::default()).await.unwrap();
    }
}
