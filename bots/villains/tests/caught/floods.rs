//! Bots that send frames without end lose by it, and cost nobody else anything.

use std::time::Duration;

use futures_util::future::join_all;
use villains::Kind;

use crate::vocabulary::*;

/// All kinds that add frames to those of an honest bot.
fn floods() -> impl Iterator<Item = Kind> {
    let all = Kind::all().iter().copied();
    all.filter(|kind| kind.name().starts_with("floods-"))
}

#[tokio::test]
async fn a_bot_that_floods_its_connection_loses_by_it() {
    for villain in floods() {
        loses(&villain.name(), &[]).await;
    }
}

#[tokio::test]
async fn a_flood_costs_other_games_nothing() {
    /// Far less than what a flood without a budget costs.
    const LIMIT: Duration = Duration::from_millis(500);
    for villain in floods() {
        let arena = Arena::alone(1).await;
        let honest = bot("honest");
        let flooders = (0..16).map(|seed| {
            let mut game = game(seed, &bot(&villain.name()), &honest);
            game.fixture.limits.per_move = AMPLE;
            arena.play(game)
        });
        let others = (100..108).map(|seed| {
            let mut game = game(seed, &honest, &honest);
            game.fixture.limits.per_move = LIMIT;
            arena.play(game)
        });
        let (floods, others) = tokio::join!(join_all(flooders), join_all(others));
        for record in floods {
            let foul = record.result.verdict.foul(FIRST).map(|foul| foul.kind());
            assert_eq!(foul, villain.foul(), "{villain:?}");
        }
        for record in others {
            played_out(&record);
        }
    }
}
