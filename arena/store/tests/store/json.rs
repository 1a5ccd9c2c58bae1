//! JSON that is printed is read back as the same value.

use std::fmt::Debug;

use arena_ladder::{Entrant, GroupScore, MatchId};
use arena_store::{
    BotRow, FirstFoul, GameRow, Lease, LeaseHolder, NewBot, Reported, ScoredGroup, TournamentState,
    TournamentSummary,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::vocabulary::{Home, chunk, game, late, tournament};

/// The JSON of a value, from which the value was read again.
fn json_of<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Value {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *value, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_game_is_one_flat_object() {
    let mut row = game(3, 1).row;
    row.fouls = vec![late(1)];
    row.course = u64::MAX;
    let json = json_of::<GameRow>(&row);
    assert_eq!(json["match"], 0);
    assert_eq!(json["course"], "ffffffffffffffff");
    assert_eq!(json["counters"][1], json!([0, "ask:12", 5]));
    assert_eq!(json["fouls"][0]["foul"]["kind"], "late");
}

#[test]
fn groups_fouls_leases_and_bots_are_read_as_what_they_were() {
    let scored = ScoredGroup {
        matchup: MatchId(3),
        lineup: vec![Some(Entrant::new(1)), None],
        score: GroupScore::new(7, 2),
    };
    assert_eq!(json_of(&scored)["lineup"], json!([1, null]));
    let first = FirstFoul {
        entrant: Entrant::new(2),
        group: 5,
        seating: 1,
        foul: late(0).foul,
    };
    assert_eq!(json_of(&first)["foul"]["limit_us"], 3_000_000);
    let lease = Lease {
        chunk: chunk(64, 32),
        attempt: 2,
        holder: LeaseHolder {
            worker: "a worker".to_owned(),
            session: Some([7; 16]),
            until_unix_ms: 9,
        },
    };
    assert_eq!(json_of(&lease)["chunk"]["first_group"], 64);
    let row = BotRow {
        bot: NewBot {
            name: "a bot".to_owned(),
            version: "2".to_owned(),
            spec: "house:random".to_owned(),
            owner: None,
            games: vec!["othello".to_owned()],
        },
        retired: false,
        newest: true,
    };
    assert_eq!(json_of(&row)["version"], "2");
    assert_eq!(json_of(&Reported::Duplicate), "duplicate");
}

#[test]
fn a_state_is_its_word() {
    for state in [
        TournamentState::Created,
        TournamentState::Running,
        TournamentState::Stopped,
        TournamentState::Over,
    ] {
        assert_eq!(json_of(&state), state.word());
    }
}

#[tokio::test]
async fn a_list_of_tournaments_is_read_as_what_it_was() {
    let home = Home::sqlite();
    let store = home.open().await;
    let id = tournament(&store, 2).await.id;
    let list = store.tournaments().await.unwrap();
    let json = json_of::<Vec<TournamentSummary>>(&list);
    assert_eq!(json[0]["id"], json_of(&id));
    assert_eq!(json[0]["state"], "created");
}
