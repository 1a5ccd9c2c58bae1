//! The settings for a tournament whose games are played on Kubernetes.

use referee_bots::{Entry, Reach, Trust};
use serde::{Deserialize, Serialize};

use crate::{TournamentError, error::invalid as usage};

/// The most games of a chunk that can be asked for.
const MOST_GAMES: u32 = 4096;

/// A tournament's games are played on Kubernetes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnKubernetes {
    /// The isolation of its bots from each other.
    pub isolation: Isolation,
    /// Number of games of a chunk, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u32>,
}

/// The isolation of the bots of a game from each other, and who runs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Somebody runs them as services, and workers dial them.
    Services,
    /// They are containers of the referee's pod, and share its network: for bots that one trusts.
    Shared,
    /// Each has a pod of its own that only its referee reaches, without a way out.
    #[default]
    Pod,
}

impl OnKubernetes {
    /// Checks that it can be played in this way.
    ///
    /// # Errors
    ///
    /// What was expected of which bot.
    pub(crate) fn check<'e>(
        self,
        entries: impl IntoIterator<Item = &'e Entry>,
    ) -> Result<(), TournamentError> {
        if self
            .games
            .is_some_and(|games| !(1..=MOST_GAMES).contains(&games))
        {
            return usage(format!("run.games: expected 1 to {MOST_GAMES}"));
        }
        for entry in entries {
            let launcher = entry.launcher();
            let expected = match (self.isolation, launcher.reach()) {
                // Referees bring the built-in bots with them.
                _ if launcher.trust() == Trust::BuiltIn => continue,
                (Isolation::Services, Reach::Address(_)) if !launcher.is_in_lobby() => continue,
                (Isolation::Shared | Isolation::Pod, Reach::Container { .. }) => continue,
                (Isolation::Shared | Isolation::Pod, _) if launcher.archive().is_some() => continue,
                (Isolation::Services, _) => "grpc://HOST:PORT, as services have it",
                (Isolation::Shared | Isolation::Pod, _) => {
                    "a packed one (`arena bots add NAME --dir FOLDER --run COMMAND`), or an image, \
                     as in image:registry.example.com/my-bot@sha256:DIGEST"
                }
            };
            return usage(format!(
                "bots: {} is {}, and on Kubernetes with isolation = \"{}\" a bot is {expected}",
                entry.name,
                entry.spec,
                self.isolation.word()
            ));
        }
        Ok(())
    }
}

impl Isolation {
    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::Shared => "shared",
            Self::Pod => "pod",
        }
    }
}
