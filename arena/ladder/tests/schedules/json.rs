//! Tests that a schedule's values are written as JSON, and are the same when they are read again.

use std::{collections::BTreeSet, fmt::Debug};

use arena_ladder::schedule::{
    Decider, Match, Participant, Ranked, Remark, Round, STATE_VERSION, SetAside, SetAsideReason,
    TieBreak,
};
use arena_ladder::{Entrant, Group, GroupScore, HalfPoints, MatchId, ScheduleShape};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::vocabulary::{failed_by, field, made};

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

/// The names of all fields of a value and of what it has.
fn fields(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, into)),
        Value::Object(map) => {
            for (name, item) in map {
                if name.parse::<u64>().is_err() {
                    into.insert(name.clone());
                }
                fields(item, into);
            }
        }
        _ => {}
    }
}

/// If this fails, raise [`STATE_VERSION`] with the fields.
#[test]
fn a_state_of_this_version_has_these_fields() {
    let mut found = vec![STATE_VERSION.to_string()];
    for shape in [
        ScheduleShape::RoundRobin {},
        ScheduleShape::Swiss { rounds: Some(3) },
        ScheduleShape::Ladder { rounds: None },
        ScheduleShape::DoubleElimination {},
    ] {
        let mut schedule = made(&field(5, 2, 3), &shape);
        let groups: Vec<Group> = std::iter::from_fn(|| schedule.next()).collect();
        for group in groups.iter().skip(1) {
            let mut score = GroupScore::new(group.number, 2);
            score.games = 2;
            failed_by(&mut score, &group.lineup, &[Entrant::new(0)], true);
            schedule.record(&score).unwrap();
        }
        let mut names = BTreeSet::new();
        let state = serde_json::from_str(&schedule.state()).unwrap();
        fields(&state, &mut names);
        found.push(names.into_iter().collect::<Vec<_>>().join(" "));
    }
    let listed = "ahead aside begun counted deals entrant entrants failed failures faults forgiven \
        fouls frontier games length lineups margin margins named number outcomes over places planned \
        points rounds rules seats set_aside starts turn walkover";
    let swiss = "ahead aside bye byes counted deals each end entrant entrants failed faults forgotten \
        forgotten_groups fouls games length margin margins matches met named naming number open outcomes \
        over pairing per_round places points remarks root rounds rules seats set_aside starts turn \
        uncounted walkover whole_match";
    let ladder = "ahead aside bye byes counted deals each end entrant entrants failed faults forgotten \
        forgotten_groups fouls games length margin margins matches met named naming number open outcomes \
        over pairing per_round places points rating ratings remarks root rounds rules seats set_aside \
        starts turn uncertainty uncounted walkover";
    let elimination = "Place Seed absent ahead aside bracket counted deals each entrant entrants failed \
        faults feeds fouls games go_on half length margin margins match_up named nodes number of order \
        out outcomes over path place places points ready remarks reset round rounds rules seats \
        set_aside sources starts states turn walkover";
    assert_eq!(found, ["1", listed, swiss, ladder, elimination]);
}
