//! The examples of the rules page and of the rulings, one after another, and
//! what is refused.

use std::str::FromStr as _;

use arena_proto::games::big_two::v1::{BigTwoCall, big_two_call::Call, get_play};
use prost::Message as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use referee_core::{Dice, Game as _, Outcome, Seat, Seed, Sight as _, State, Step, Wire as _};
use referee_games::big_two::{
    BigTwo, Card, Cards, Combination, Ending, Move, Notice, Order, Public, Question, Rules,
    Scoring, SeatStanding, Setup, Trick,
};

fn cards(text: &str) -> Cards {
    text.parse().expect("cards")
}

fn seat(index: u8) -> Seat {
    Seat::new(index)
}

/// A round in the middle: these hands, and all other cards played by seat 0.
fn middle(hands: [&str; 4], turn: u8) -> State<BigTwo> {
    let setup = Setup::default();
    let mut state = BigTwo::deal(&setup, &mut Dice::new(&Seed::new([1; 32])));
    let rules = Rules {
        scoring: setup.scoring,
        reversal: setup.reversal,
    };
    let hands = hands.map(cards);
    state.private = hands.to_vec().into();
    state.public = Public {
        turn: Some(seat(turn)),
        ..Public::beginning(rules, hands.map(Cards::len))
    };
    state.public.played[0] = hands.iter().fold(Cards::DECK, |rest, &hand| rest - hand);
    state
}

/// Whoever is asked does this.
fn go(state: &mut State<BigTwo>, text: &str) -> Result<(), String> {
    let Step::Ask(asked) = BigTwo::step(state) else {
        panic!("nobody is asked");
    };
    let (seat, question) = asked[0];
    let did = match text {
        "pass" => Move::Pass,
        text => Move::Play(cards(text)),
    };
    let legal = BigTwo::legal(&state.observe(seat), question).contains(&did);
    let judged = BigTwo::judge(&state.observe(seat), question, &did);
    assert_eq!(judged.is_ok(), legal, "{text}");
    judged.map_err(|rule| rule.to_string())?;
    BigTwo::resolve(state, &[(seat, did)]);
    assert!(matches!(BigTwo::step(state), Step::Tell(_, Notice::Move)));
    Ok(())
}

fn goes(state: &mut State<BigTwo>, all: &[&str]) {
    for text in all {
        go(state, text).unwrap_or_else(|rule| panic!("{text}: {rule}"));
    }
}

fn over(state: &mut State<BigTwo>) -> Outcome<Ending> {
    match BigTwo::step(state) {
        Step::Over(outcome) => outcome,
        other => panic!("expected the end, found {other:?}"),
    }
}

#[test]
fn card_i_goes_to_seat_i_mod_four() {
    for seed in 0..50 {
        let seed = Seed::new([seed; 32]);
        let mut deck: Vec<Card> = Card::all().collect();
        Dice::new(&seed).shuffle(&mut deck);
        let state = BigTwo::deal(&Setup::default(), &mut Dice::new(&seed));
        for (i, card) in deck.into_iter().enumerate() {
            assert!(state.private[seat(i as u8 % 4)].contains(card));
        }
        assert_eq!(state.public.cards_left, [14, 14, 13, 13]);
    }
}

/// Worked out with another implementation of ChaCha20. If this fails, old seeds
/// mean other games: don't change the hands.
#[test]
fn a_seed_means_the_same_deal_for_ever() {
    let state = BigTwo::deal(&Setup::default(), &mut Dice::new(&Seed::new([9; 32])));
    let hands: Vec<String> = state
        .private
        .iter()
        .map(|(_, hand)| hand.to_string())
        .collect();
    assert_eq!(hands, GOLDEN_HANDS);
}

const GOLDEN_HANDS: [&str; 4] = [
    "4C 5D 6C 6S 7D 8C 9H JC QC KS AD AH AS JK2",
    "3C 4H 5C 8D 8H 8S 9D 10H 10S QS KC KD AC 2S",
    "3H 4D 5H 7C 7S 9C 9S 10C JD JH QD KH JK1",
    "3D 3S 4S 5S 6D 6H 7H 10D JS QH 2C 2D 2H",
];

#[test]
fn the_first_play_contains_the_natural_three_of_clubs_and_is_no_pass() {
    let state = middle(["3D 4C JK1", "3C 3H 4D JK2", "5C", "6C"], 1);
    assert_eq!(
        go(&mut state.clone(), "pass").unwrap_err(),
        "expected a play, for whoever leads may not pass"
    );
    for refused in ["4D", "3H", "3H JK2", "JK2"] {
        let why = go(&mut state.clone(), refused).unwrap_err();
        assert_eq!(
            why,
            format!("expected a play with 3C as the first of the game, found {refused}")
        );
    }
    for good in ["3C", "3C 3H", "3C JK2", "3C 3H JK2"] {
        go(&mut state.clone(), good).unwrap();
    }
}

#[test]
fn a_pass_does_not_shut_a_player_out() {
    let mut state = middle(["3D 9C 9H", "4D KC KD", "5D 5C 5H", "6D 6C 6H"], 0);
    goes(&mut state, &["3D", "pass", "5D", "6D", "9C", "KC", "pass"]);
    assert_eq!(state.public.turn, Some(seat(3)));
}

#[test]
fn when_all_others_have_passed_whoever_played_last_leads_anything() {
    let mut state = middle(["3D 9C 9H", "4D KC KD", "5D 5C 5H", "6D 6C 6H"], 0);
    goes(&mut state, &["3D", "4D", "pass", "pass", "pass"]);
    assert_eq!(state.public.turn, Some(seat(1)));
    assert_eq!(state.public.trick, None);
    assert!(go(&mut state.clone(), "pass").is_err());
    goes(&mut state, &["KC KD", "pass", "pass", "pass"]);
    assert_eq!(state.public.standing[1], SeatStanding::Out(1));
    // Seat 1 is out: the next in play leads.
    assert_eq!(state.public.turn, Some(seat(2)));
    goes(&mut state, &["5D 5C 5H", "6D 6C 6H"]);
    assert_eq!(over(&mut state).places.as_slice(), [4, 1, 2, 3]);
    assert_eq!(over(&mut state).scores.as_slice(), [0, 3, 2, 1]);
}

#[test]
fn the_last_play_of_whoever_goes_out_is_still_to_be_beaten() {
    let mut state = middle(["KD", "4D KC 3S", "AD AC 2H", "6D 2C 6H"], 0);
    goes(&mut state, &["KD"]);
    assert!(go(&mut state.clone(), "4D").is_err());
    goes(&mut state, &["pass", "AD", "2C", "pass", "pass"]);
    assert_eq!(
        (state.public.turn, state.public.trick),
        (Some(seat(3)), None)
    );
}

#[test]
fn a_four_of_a_kind_reverses_at_once_also_with_jokers() {
    let hands = [
        "KC KD KH JK1 3D",
        "QC QD QH QS 4C",
        "AC AD AH AS 5C",
        "JC JD JH JK2 6C",
    ];
    let mut state = middle(hands, 0);
    goes(&mut state, &["KC KD KH JK1"]);
    assert_eq!(state.public.order, Order::Reversed);
    // Kings are beaten by queens now, and not by aces; that turns it back.
    let mut normal = state.clone();
    goes(&mut normal, &["QC QD QH QS"]);
    assert_eq!(normal.public.order, Order::Normal);
    goes(&mut normal, &["AC AD AH AS"]);
    assert_eq!(normal.public.order, Order::Reversed);
    goes(&mut state, &["pass"]);
    assert_eq!(
        go(&mut state, "AC AD AH AS").unwrap_err(),
        "expected a four of a kind above KC KD KH JK1 in the reversed order, or a pass, \
         found AC AD AH AS (four of a kind)"
    );
}

#[test]
fn straight_flushes_never_reverse_and_a_switch_turns_reversal_off() {
    let hands = ["3C 4C 5C 6C 9S", "KC KD KH KS 4D", "5D", "6D"];
    let mut state = middle(hands, 0);
    goes(&mut state, &["3C 4C 5C 6C", "pass", "pass", "pass"]);
    assert_eq!(state.public.order, Order::Normal);
    let mut state = middle(hands, 1);
    state.public.rules.reversal = false;
    goes(&mut state, &["KC KD KH KS"]);
    assert_eq!(state.public.order, Order::Normal);
}

#[test]
fn a_straight_flush_with_a_joker_hangs_on_its_weakest_natural_card() {
    let hands = ["2D JK1 4D 7S", "5H 6H 7H 3H 4H 9C", "8C", "9D"];
    // Its key is 4.
    let mut state = middle(hands, 0);
    goes(&mut state, &["2D JK1 4D"]);
    assert!(go(&mut state.clone(), "4H 5H 6H").is_err());
    goes(&mut state, &["5H 6H 7H"]);
    // Reversed its key is 2, which everything beats.
    let mut state = middle(hands, 0);
    state.public.order = Order::Reversed;
    goes(&mut state, &["2D JK1 4D"]);
    goes(&mut state, &["5H 6H 7H"]);
}

#[test]
fn a_forfeit_counts_as_a_pass_while_others_are_to_be_answered() {
    let mut state = middle(["3D 9C", "4D KC", "5D 5C", "6D 6C"], 0);
    goes(&mut state, &["3D", "4D", "pass"]);
    assert_eq!(BigTwo::forfeit(&mut state, seat(3)), 4);
    assert_eq!(state.public.turn, Some(seat(0)));
    assert_eq!(state.private[seat(3)], cards("6D 6C"));
    goes(&mut state, &["pass"]);
    assert_eq!(
        (state.public.turn, state.public.trick),
        (Some(seat(1)), None)
    );
    // It was to lead: the next in play does.
    assert_eq!(BigTwo::forfeit(&mut state, seat(1)), 3);
    assert_eq!(
        (state.public.turn, state.public.trick),
        (Some(seat(2)), None)
    );
    goes(&mut state, &["5D 5C"]);
    assert_eq!(over(&mut state).places.as_slice(), [2, 3, 1, 4]);
}

#[test]
fn if_the_three_of_clubs_leaves_the_lead_needs_none() {
    let mut state = BigTwo::deal(&Setup::default(), &mut Dice::new(&Seed::new([5; 32])));
    let Step::Ask(asked) = BigTwo::step(&mut state) else {
        panic!("somebody leads");
    };
    let opener = asked[0].0;
    BigTwo::forfeit(&mut state, opener);
    let next = seat((opener.index() as u8 + 1) % 4);
    assert_eq!(
        BigTwo::step(&mut state),
        Step::Ask(vec![(next, Question::Play)])
    );
    let legal = BigTwo::legal(&state.observe(next), Question::Play);
    assert!(
        state.private[next]
            .iter()
            .all(|card| legal.contains(&Move::Play(card.into())))
    );
    assert!(!legal.contains(&Move::Pass));
}

#[test]
fn a_payout_doubles_for_jokers_and_twos_and_ends_with_the_first_out() {
    let hands = ["9C", "4D 2C JK1", "5D 5C 2D 2H JK2", "6D 6C 6H"];
    let mut state = middle(hands, 0);
    state.public.rules.scoring = Scoring::Payout;
    // Seat 3 leaves first: it pays as if it held its cards, and is last.
    BigTwo::forfeit(&mut state, seat(3));
    goes(&mut state, &["9C"]);
    let outcome = over(&mut state);
    assert_eq!(outcome.scores.as_slice(), [12 + 40 + 3, -12, -40, -3]);
    assert_eq!(outcome.places.as_slice(), [1, 2, 3, 4]);

    let mut state = middle(["9C", "4D 2C", "5D JK1", "6D 7D 8S"], 0);
    state.public.rules.scoring = Scoring::Payout;
    goes(&mut state, &["9C"]);
    let outcome = over(&mut state);
    assert_eq!(outcome.scores.as_slice(), [4 + 4 + 3, -4, -4, -3]);
    assert_eq!(outcome.places.as_slice(), [1, 3, 3, 2]);
    assert_eq!(outcome.reason, Ending::Out(Seat::new(0)));
}

#[test]
fn what_is_no_play_is_refused_with_what_was_expected() {
    let mut state = middle(["3D 4D 9C", "4C 4H KC KD 7S", "5D", "6D"], 0);
    for (text, why) in [
        (
            "3D 4D",
            "expected a single, a pair, three or four of a kind or a straight flush, found [3D 4D]",
        ),
        (
            "",
            "expected a single, a pair, three or four of a kind or a straight flush, found []",
        ),
        ("5H", "expected cards of the hand, which lacks 5H"),
    ] {
        assert_eq!(go(&mut state.clone(), text).unwrap_err(), why);
    }
    goes(&mut state, &["9C"]);
    assert_eq!(
        go(&mut state.clone(), "4C 4H").unwrap_err(),
        "expected a single above 9C, or a pass, found 4C 4H (pair)"
    );
}

fn setup(json: &str) -> Result<serde_json::Value, String> {
    let kind = referee_games::game("big-two").expect("it is in the list");
    let json = serde_json::from_str(json).expect("JSON");
    kind.setup(&json).map_err(|error| error.to_string())
}

#[test]
fn set_ups_are_refused_with_the_reason() {
    let rest: Vec<String> = Card::all().skip(14).map(|card| card.to_string()).collect();
    let hands = |first: &str| {
        let [b, c, d] = [&rest[..14], &rest[14..27], &rest[27..]].map(|hand| hand.join(" "));
        format!(r#"{{"hands": ["{first}", "{b}", "{c}", "{d}"]}}"#)
    };
    let first: Vec<String> = Card::all().take(14).map(|card| card.to_string()).collect();
    let full = setup(&hands(&first.join(" "))).unwrap();
    assert_eq!(full["hands"][0], first.join(" "));
    assert_eq!(
        (&full["scoring"], &full["reversal"]),
        (&"places".into(), &true.into())
    );
    assert_eq!(
        setup(&hands(&first[1..].join(" "))).unwrap_err(),
        "hands: 3C is missing"
    );
    assert_eq!(
        setup(&hands(&format!("{} JK2", first.join(" ")))).unwrap_err(),
        "hands: JK2 is in the hands of seats 0 and 3"
    );
    assert!(
        setup(&hands("3C 3C"))
            .unwrap_err()
            .contains("3C is there twice; one is {\"hands\"")
    );
    assert!(
        setup(&hands("1C"))
            .unwrap_err()
            .contains("expected a card such as 3C")
    );
    assert!(setup(r#"{"hands": ["3C"]}"#).is_err());
    assert!(
        setup(r#"{"hand": []}"#)
            .unwrap_err()
            .contains("unknown field")
    );
    assert!(
        setup(r#"{"scoring": "money"}"#)
            .unwrap_err()
            .contains("unknown variant")
    );
    let all: Vec<String> = Card::all().map(|card| card.to_string()).collect();
    let parts = [&all[..15], &all[15..28], &all[28..41], &all[41..]];
    let uneven = setup(&serde_json::json!({"hands": parts.map(|hand| hand.join(" "))}).to_string());
    assert_eq!(
        uneven.unwrap_err(),
        "hands: seat 0 must have 13 or 14 cards, found 15"
    );
}

#[test]
fn an_opening_is_four_hands_on_a_line() {
    let all: Vec<String> = Card::all().map(|card| card.to_string()).collect();
    let line = [&all[..14], &all[14..28], &all[28..41], &all[41..]].map(|hand| hand.join(" "));
    let opening = BigTwo::opening(&line.join(" | ")).unwrap();
    assert_eq!(BigTwo::validate(&opening), Ok(()));
    assert_eq!(opening.hands.unwrap().map(|hand| hand.to_string()), line);
    let refused = BigTwo::opening("3C | 4C").unwrap_err().to_string();
    let expected = "expected four hands with | between them, found 2, such as 3C 4C";
    assert!(refused.starts_with(expected), "{refused}");
    let json = BigTwo::opening(r#"{"scoring": "payout"}"#).unwrap();
    assert_eq!(json.scoring, Scoring::Payout);
}

#[test]
fn answers_that_can_not_be_read_say_what_was_expected() {
    use arena_proto::{
        arena::v1::Ready,
        games::big_two::v1::{BigTwoAnswer, Play, big_two_answer::Answer},
    };
    let refused = |answer: Option<Answer>| {
        let message = BigTwoAnswer {
            number: Some(1),
            answer,
        };
        BigTwo::read_answer(Question::Play, &message.encode_to_vec())
            .unwrap_err()
            .to_string()
    };
    let play = |cards: &[i32]| {
        refused(Some(Answer::Play(Play {
            cards: cards.to_vec(),
        })))
    };
    assert_eq!(refused(None), "expected Play or Pass, found nothing");
    assert_eq!(
        refused(Some(Answer::Ready(Ready::default()))),
        "expected Play or Pass, found Ready"
    );
    assert_eq!(play(&[0]), "expected cards of 1 to 54, found 0");
    assert_eq!(play(&[55]), "expected cards of 1 to 54, found 55");
    assert_eq!(
        play(&[i32::MIN]),
        "expected cards of 1 to 54, found -2147483648"
    );
    assert_eq!(play(&[300]), "expected cards of 1 to 54, found 300");
    assert_eq!(play(&[7, 1, 7]), "expected each card once, found 4H twice");
}

/// Bytes that nobody would send, and calls with a byte changed.
#[test]
fn no_bytes_make_a_reader_panic() {
    let mut rng = StdRng::seed_from_u64(6);
    let mut state = BigTwo::deal(&Setup::default(), &mut Dice::new(&Seed::new([3; 32])));
    let mut start = Vec::new();
    BigTwo::write_start(&state.observe(seat(0)), &mut start);
    let mut view = BigTwo::begin(seat(0), &start).unwrap();
    let mut messages = vec![start.clone()];
    while let Step::Ask(asked) = BigTwo::step(&mut state) {
        let (by, question) = asked[0];
        let legal = BigTwo::legal(&state.observe(by), question);
        let mut answer = Vec::new();
        BigTwo::write_answer(&legal[0], &mut answer);
        let mut ask = Vec::new();
        BigTwo::write_question(&state.observe(by), question, &mut ask);
        BigTwo::resolve(&mut state, &[(by, legal[0])]);
        assert!(matches!(BigTwo::step(&mut state), Step::Tell(..)));
        let mut notice = Vec::new();
        BigTwo::write_notice(&state.observe(seat(0)), Notice::Move, &mut notice);
        messages.extend([answer, ask, notice]);
    }
    let mut changed = 0;
    for round in 0..200_000 {
        let mut bytes = messages[rng.random_range(0..messages.len())].clone();
        for _ in 0..round % 3 {
            let at = rng.random_range(0..bytes.len());
            bytes[at] = rng.random();
        }
        changed += u32::from(BigTwo::read_answer(Question::Play, &bytes).is_err());
        if let Ok(other) = BigTwo::begin(seat(rng.random_range(0..6)), &bytes) {
            view = other;
        }
        let _ = BigTwo::hear(&mut view, &bytes);
        if round % 50 == 0 {
            view = BigTwo::begin(seat(0), &start).unwrap();
        }
    }
    assert!(changed > 10_000, "{changed}");
}

#[test]
fn a_play_is_told_with_all_that_comes_of_it() {
    let mut state = middle(["KC KD KH KS", "4D 5C", "5D", "6D"], 0);
    state.public.trick = None;
    goes(&mut state, &["KC KD KH KS"]);
    let mut call = Vec::new();
    BigTwo::write_notice(&state.observe(seat(2)), Notice::Move, &mut call);
    let Some(Call::GetPlay(told)) = BigTwoCall::decode(&call[..]).unwrap().call else {
        panic!("expected a GetPlay");
    };
    assert_eq!((told.seat, told.cards_left, told.place), (0, 0, Some(1)));
    assert!(told.reversed_after);
    let Some(get_play::Move::Play(play)) = told.r#move else {
        panic!("expected a Play");
    };
    let names: Vec<&str> = play.cards().map(|card| card.as_str_name()).collect();
    assert_eq!(
        names,
        [
            "CARD_KING_OF_CLUBS",
            "CARD_KING_OF_DIAMONDS",
            "CARD_KING_OF_HEARTS",
            "CARD_KING_OF_SPADES"
        ]
    );
}

/// The enum's names against the notation.
#[test]
fn a_card_has_the_same_name_on_the_wire() {
    use arena_proto::games::big_two::v1::Card as OnTheWire;
    let ranks = [
        ("THREE", "3"),
        ("FOUR", "4"),
        ("FIVE", "5"),
        ("SIX", "6"),
        ("SEVEN", "7"),
        ("EIGHT", "8"),
        ("NINE", "9"),
        ("TEN", "10"),
        ("JACK", "J"),
        ("QUEEN", "Q"),
        ("KING", "K"),
        ("ACE", "A"),
        ("TWO", "2"),
    ];
    for (rank, short) in ranks {
        for suit in ["CLUBS", "DIAMONDS", "HEARTS", "SPADES"] {
            let on_the_wire = OnTheWire::from_str_name(&format!("CARD_{rank}_OF_{suit}")).unwrap();
            let ours = Card::from_str(&format!("{short}{}", &suit[..1])).unwrap();
            assert_eq!(on_the_wire as i32, i32::from(ours.index()) + 1);
        }
    }
    for joker in ["1", "2"] {
        let on_the_wire = OnTheWire::from_str_name(&format!("CARD_JOKER_{joker}")).unwrap();
        let ours = Card::from_str(&format!("JK{joker}")).unwrap();
        assert_eq!(on_the_wire as i32, i32::from(ours.index()) + 1);
    }
}

#[test]
fn a_seat_is_drawn_its_own_hand_and_the_backs_of_the_others() {
    use referee_core::{Hidden, Piece};
    let mut state = middle(["3D 9C JK1", "4D KC", "5D 5C", "6D"], 0);
    goes(&mut state, &["9C"]);
    let play = Combination::of(cards("9C")).unwrap();
    assert_eq!(state.public.trick, Some(Trick { by: seat(0), play }));
    let hand = state.private[seat(1)];
    let scene = BigTwo::scene(&state.public, &[(seat(1), &hand)]);
    let pieces: Vec<Vec<Piece>> = scene
        .areas
        .iter()
        .map(|area| area.cells.iter().map(|cell| cell.piece).collect())
        .collect();
    assert_eq!(pieces[0].len(), 1);
    assert_eq!(pieces[1], [Piece::FaceDown { of: Hidden::Card }; 2]);
    assert!(
        pieces[2]
            .iter()
            .all(|piece| matches!(piece, Piece::Card { .. }))
    );
    let says: Vec<&str> = scene.areas[2]
        .cells
        .iter()
        .map(|cell| &cell.says[..])
        .collect();
    assert_eq!(says, ["4D", "KC"]);
    assert_eq!(scene.areas[2].label.english, "seat 1: 2 cards, to play");
    assert_eq!(scene.areas[4].label.english, "seat 3: 1 card");
    assert_eq!(scene.captions[1].english, "last: seat 0 played 9C");
}
