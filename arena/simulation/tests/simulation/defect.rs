//! Intended defects of a simulated arena, to show that the checks can fail.

/// A planted defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Nothing is wrong.
    #[default]
    None,
    /// With a lease comes the seed of a deal that is not in it.
    TellsSeeds,
    /// With a lease comes the root.
    TellsRoot,
    /// Public moves are asked for in games with secrets.
    AsksForMoves,
    /// Some games are taken and not stored.
    LosesGames,
    /// Games that come too late are confirmed.
    ConfirmsEverything,
    /// Some games are stored with another result.
    AltersResults,
    /// Some games are stored without their counters.
    LosesCounters,
    /// A tournament that is cancelled goes on.
    IgnoresCancel,
    /// A tournament that is paused goes on.
    IgnoresPause,
    /// A tournament that is paused is called stopped, and goes on.
    StopsInNameOnly,
    /// A worker that is revoked goes on.
    IgnoresRevoke,
    /// An error that passes stops a tournament until a person acts.
    StopsForGood,
    /// The end of a tournament is never written.
    NeverEnds,
}
