//! Tests that a schedule's values are written as JSON, and are the same when they are read again.

use std::fmt::Debug;

use arena_ladder::schedule::{
    Decider, Match, Participant, Ranked, Remark, Round, SetAside, SetAsideReason, TieBreak,
};
use arena_ladder::{Entrant, Group, HalfPoints, MatchId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The JSON of a value, from which the value was read again.
fn json_of<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Value {
    let text = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(read, *value, "{text}");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn remarks_and_reasons_are_data() {
    let [one, two] = [3, 5].map(Entrant::new);
    let names = |who: Entrant| if who == one { "one" } else { "two" };
    let round = "round 2".to_owned();
    for (remark, json, words) in [
        (
            Remark::Rematch {
                round: round.clone(),
                players: [one, two],
            },
            json!({"remark": "rematch", "round": "round 2", "players": [3, 5]}),
            "round 2: one and two meet again, since every pairing has a rematch",
        ),
        (
            Remark::SecondBye {
                round: round.clone(),
                entrant: two,
            },
            json!({"remark": "second_bye", "round": "round 2", "entrant": 5}),
            "round 2: two has a bye again",
        ),
        (
            Remark::Tie {
                round,
                ahead: two,
                behind: one,
                decided_by: Decider::Seeding,
            },
            json!({
                "remark": "tie", "round": "round 2", "ahead": 5, "behind": 3,
                "decided_by": "seeding",
            }),
            "round 2: two and one have equal points; two is ahead by its seed, with equal margins",
        ),
    ] {
        assert_eq!(json_of(&remark), json);
        assert_eq!(remark.words(names), words);
    }
    let aside = SetAside {
        entrant: one,
        why: SetAsideReason::Failed { deals: 1 },
        annulled: true,
    };
    assert_eq!(
        json_of(&aside)["why"],
        json!({"reason": "failed", "deals": 1})
    );
    assert_eq!(aside.why.to_string(), "failed 1 deal");
}

#[test]
fn rounds_rankings_and_groups_are_read_as_what_they_were() {
    let one = Entrant::new(3);
    let round = Round {
        name: "semi-finals".to_owned(),
        matches: vec![Match {
            id: MatchId(4),
            players: vec![
                Participant::Entrant(one),
                Participant::Filler,
                Participant::Bye,
                Participant::Pending("winner of match 3".to_owned()),
            ],
            groups: 2,
            most: 9,
            points: vec![HalfPoints(3); 4],
            over: false,
        }],
    };
    assert_eq!(json_of(&round)["matches"][0]["players"][1], "filler");
    let ranked = Ranked {
        place: 1,
        entrant: one,
        points: 2.5,
        ties: vec![(TieBreak::Buchholz, 12.5), (TieBreak::SonnebornBerger, 4.0)],
    };
    assert_eq!(
        json_of(&ranked)["ties"],
        json!([["buchholz", 12.5], ["sonneborn_berger", 4.0]])
    );
    let group = Group {
        number: 70,
        matchup: MatchId(7),
        at: 3,
        turn: 5,
        lineup: vec![Some(one), None],
    };
    assert_eq!(json_of(&group)["match"], 7);
}
