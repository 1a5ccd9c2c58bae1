//! Looks whether an address can be connected to, as from a pod whose network has policies.

use std::time::Duration;

use clap::Args;
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{End, text::say};

/// An address that may be reached or not.
#[derive(Args, Clone, Debug)]
pub struct ReachArgs {
    /// The address.
    #[arg(value_name = "HOST:PORT")]
    address: String,
    /// How long to wait for a connection, in seconds.
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=300))]
    within: u64,
    /// How long to wait before that, in seconds: a network may take a moment to know a new pod.
    #[arg(long, default_value_t = 0, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=300))]
    after: u64,
}

impl ReachArgs {
    /// Connects, and says whether it could; nothing is sent.
    ///
    /// # Errors
    ///
    /// We fail.
    pub async fn run(self) -> anyhow::Result<End> {
        let Self {
            address,
            within,
            after,
        } = self;
        sleep(Duration::from_secs(after)).await;
        let connecting = TcpStream::connect(&address);
        let why = match timeout(Duration::from_secs(within), connecting).await {
            Ok(Ok(_)) => {
                say(&format!("{address} can be connected to"))?;
                return Ok(End::Done);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {within} s"),
        };
        say(&format!("{address} can't be connected to: {why}"))?;
        Ok(End::No)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn it_is_said_whether_somebody_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("it listens");
        let address = listener.local_addr().expect("an address").to_string();
        let reach = ReachArgs {
            address,
            within: 60,
            after: 0,
        };
        assert_eq!(reach.clone().run().await.expect("it looks"), End::Done);
        drop(listener);
        assert_eq!(reach.run().await.expect("it looks"), End::No);
    }
}
