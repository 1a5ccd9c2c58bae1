//! The header that the record of a game must have, whoever has played it: it says which game it is,
//! from which seed, and who sits where.

use arena_events::tournament::FaultKind;
use referee_core::{Header, Limits, Seed};
use serde_json::Value;

/// The header that a record must have.
pub(crate) struct ExpectedHeader<'a> {
    pub(crate) game: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) seed: Seed,
    /// The game's id and set-up, where the schedule has it.
    pub(crate) scheduled: Option<(String, &'a Value)>,
    /// Names of the players, by seat.
    pub(crate) players: Vec<String>,
    /// Identities of the bots, by seat, where they are known: they come from the bots' content.
    pub(crate) identities: Vec<Option<String>>,
}

impl ExpectedHeader<'_> {
    /// Checks that a header says it.
    ///
    /// # Errors
    ///
    /// What it says instead.
    pub(crate) fn check(&self, header: &Header) -> Result<(), FaultKind> {
        if header.game != self.game || header.limits != *self.limits {
            return Err(FaultKind::WrongGameOrLimits);
        }
        if header.seed != self.seed {
            return Err(FaultKind::WrongSeed);
        }
        if let Some((game_id, setup)) = &self.scheduled {
            if header.game_id != *game_id {
                return Err(FaultKind::WrongGameId {
                    game_id: header.game_id.clone(),
                });
            }
            if header.setup != **setup {
                return Err(FaultKind::WrongSetup);
            }
        }
        let players = header.players.as_slice();
        if players.len() != self.players.len() {
            return Err(FaultKind::WrongSeating);
        }
        let pairs = || (0..).zip(players.iter().zip(&self.players));
        if let Some((seat, (player, _))) = pairs().find(|(_, (found, wanted))| found != wanted) {
            return Err(FaultKind::WrongPlayer {
                seat,
                player: player.clone(),
            });
        }
        for (seat, entered) in self.identities.iter().enumerate() {
            let Some(entered) = entered else { continue };
            let played = header.identity.as_slice().get(seat).cloned().flatten();
            if played.as_ref() != Some(entered) {
                return Err(FaultKind::WrongIdentity {
                    seat: seat as u8,
                    entered: entered.clone(),
                    played,
                });
            }
        }
        Ok(())
    }
}
