//! Calls and answers as JSON, made from the descriptors of their messages: no game is named here.
//!
//! A field keeps its name. A message is an object, a list and the bytes of a board are arrays, a
//! duration is a number of seconds, a value of an enum is its text (the option `arena.v1.text`, or
//! its name in small letters without the part that all names of the enum begin with). A `fixed64`
//! is random bits, of which JavaScript would lose some: it is written as a string of digits. All
//! other numbers are smaller than 2^53.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, ExtensionDescriptor, FieldDescriptor, Kind,
    MessageDescriptor, OneofDescriptor, ReflectMessage as _, Value,
};
use referee_core::shorten;
use referee_games::GAMES;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap as _, SerializeSeq as _},
};
use serde_json::Value as Json;

/// The option with the text of an enum's value.
const TEXT: &str = "arena.v1.text";
/// The field with the number of a question.
const NUMBER: &str = "number";
/// The name of the choice of what a call is, and of the choice of an answer.
const CALL: &str = "call";
const ANSWER: &str = "answer";
/// The answer to the start of a game.
const READY: &str = "ready";
const START: &str = "start";
const DURATION: &str = "google.protobuf.Duration";
/// The longest quotation of an answer's part, in characters.
const LONGEST_QUOTATION: usize = 60;

/// The messages of one game, with the texts of their enums.
#[derive(Clone, Debug)]
pub(crate) struct GameMessages {
    call: MessageDescriptor,
    answer: MessageDescriptor,
    texts: Arc<HashMap<String, EnumTexts>>,
}

/// The texts of an enum, and back. Large and small letters are the same.
#[derive(Debug, Default)]
struct EnumTexts {
    by_number: HashMap<i32, String>,
    by_text: HashMap<String, i32>,
}

/// The games, by the path of their call `Play`.
pub(crate) fn games() -> Vec<(String, GameMessages)> {
    // Games of one crate share their descriptors.
    let mut read: HashMap<&[u8], (DescriptorPool, Arc<HashMap<_, _>>)> = HashMap::new();
    let mut games = Vec::new();
    for kind in &GAMES {
        let (pool, texts) = read.entry(kind.descriptors()).or_insert_with_key(|bytes| {
            let pool = DescriptorPool::decode(*bytes).expect("the build wrote them");
            let texts = Arc::new(texts(&pool));
            (pool, texts)
        });
        let (service, method) = (kind.path().trim_start_matches('/').split_once('/'))
            .expect("a path has a service and a method");
        let service = pool.get_service_by_name(service);
        let play = service.and_then(|one| one.methods().find(|play| play.name() == method));
        let play = play.expect("the descriptors of a game have its service");
        let messages = GameMessages {
            call: play.input(),
            answer: play.output(),
            texts: texts.clone(),
        };
        games.push((kind.path().to_owned(), messages));
    }
    games
}

fn texts(pool: &DescriptorPool) -> HashMap<String, EnumTexts> {
    let option = pool.get_extension_by_name(TEXT);
    let enums = pool.all_enums();
    enums
        .map(|one| {
            (
                one.full_name().to_owned(),
                EnumTexts::of(&one, option.as_ref()),
            )
        })
        .collect()
}

impl EnumTexts {
    fn of(one: &EnumDescriptor, option: Option<&ExtensionDescriptor>) -> Self {
        // The style guide of protobuf: names of values begin with that of the enum.
        let prefix = upper_snake(one.name()) + "_";
        let mut texts = Self::default();
        for value in one.values() {
            let options = value.options();
            let said = option.filter(|option| options.has_extension(option));
            let said =
                said.and_then(|said| options.get_extension(said).as_str().map(str::to_owned));
            let name = value.name();
            let name = name.strip_prefix(&prefix).unwrap_or(name);
            let text = said.unwrap_or_else(|| name.to_lowercase());
            texts.by_text.insert(text.to_lowercase(), value.number());
            texts.by_number.insert(value.number(), text);
        }
        texts
    }
}

/// `FoulKind` as `FOUL_KIND`.
fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            upper.push('_');
        }
        upper.push(c.to_ascii_uppercase());
    }
    upper
}

/// A call as a program is told it.
pub(crate) struct ShownCall {
    message: DynamicMessage,
    texts: Arc<HashMap<String, EnumTexts>>,
}

impl GameMessages {
    /// Reads a call.
    ///
    /// # Errors
    ///
    /// It is none of this game.
    pub(crate) fn call(&self, bytes: &[u8]) -> Result<ShownCall, prost::DecodeError> {
        Ok(ShownCall {
            message: DynamicMessage::decode(self.call.clone(), bytes)?,
            texts: self.texts.clone(),
        })
    }

    /// The names of the answers that there are.
    pub(crate) fn answers(&self) -> Vec<String> {
        let choice = choice(&self.answer, ANSWER);
        let fields = choice.iter().flat_map(OneofDescriptor::fields);
        fields.map(|field| field.name().to_owned()).collect()
    }

    /// Answers of the right form to a call, as examples: `{"point":{"x":0,"y":0}}`.
    pub(crate) fn example(&self, call: &ShownCall) -> String {
        let is_start = call.name().as_deref() == Some(START);
        let choice = choice(&self.answer, ANSWER);
        let fields = choice.iter().flat_map(OneofDescriptor::fields);
        let examples: Vec<String> = fields
            .filter(|field| (field.name() == READY) == is_start)
            .map(|field| match is_start {
                true => format!("{{\"{READY}\":{{}}}}"),
                false => format!("{{\"{}\":{}}}", field.name(), self.example_of(&field)),
            })
            .collect();
        examples.join(" or ")
    }

    fn example_of(&self, field: &FieldDescriptor) -> String {
        let value = match field.kind() {
            Kind::Enum(one) => format!("\"{}\"", self.texts[one.full_name()].first()),
            Kind::Message(one) => {
                let fields = one.fields();
                let fields =
                    fields.map(|field| format!("\"{}\":{}", field.name(), self.example_of(&field)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
            _ => "0".to_owned(),
        };
        match field.is_list() {
            true => format!("[{value}]"),
            false => value,
        }
    }

    /// Reads an answer: an object with one of [`answers`](Self::answers), and perhaps the number
    /// of the question.
    ///
    /// # Errors
    ///
    /// What was found, and what was expected.
    pub(crate) fn answer(
        &self,
        object: serde_json::Map<String, Json>,
    ) -> Result<DynamicMessage, String> {
        let answers = self.answers();
        let given = answers.iter().filter(|answer| object.contains_key(*answer));
        let given: Vec<String> = given.cloned().collect();
        let reader = Reader { texts: &self.texts };
        let message = reader.message(&self.answer, object, "the answer")?;
        match given.len() {
            0 => Err(format!("the answer has none of {}", listed(&answers))),
            1 => Ok(message),
            _ => Err(format!("expected one answer, {}", listed(&given))),
        }
    }

    /// An answer in which the number of its question stands, where it says none itself.
    pub(crate) fn numbered(&self, mut answer: DynamicMessage, number: u32) -> DynamicMessage {
        let field = self.answer.get_field_by_name(NUMBER);
        if let Some(field) = field.filter(|field| !answer.has_field(field)) {
            answer.set_field(&field, Value::U32(number));
        }
        answer
    }
}

fn choice(message: &MessageDescriptor, name: &str) -> Option<OneofDescriptor> {
    message.oneofs().find(|oneof| oneof.name() == name)
}

impl ShownCall {
    /// The name of what it is; none where it has no content that is known here.
    pub(crate) fn name(&self) -> Option<String> {
        let (field, _) = self.content()?;
        Some(field.name().to_owned())
    }

    fn content(&self) -> Option<(FieldDescriptor, Cow<'_, Value>)> {
        let choice = choice(&self.message.descriptor(), CALL)?;
        let field = choice
            .fields()
            .find(|field| self.message.has_field(field))?;
        let value = self.message.get_field(&field);
        Some((field, value))
    }

    /// The call as one line of JSON.
    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

impl Serialize for ShownCall {
    /// First what the call is, then its number and its limit, then the fields of what it is, then
    /// what comes with it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let content = self.content();
        if let Some((field, _)) = &content {
            map.serialize_entry(CALL, field.name())?;
        }
        let (own, others): (Vec<_>, Vec<_>) = (self.message.descriptor().fields())
            .filter(|field| {
                field
                    .containing_oneof()
                    .is_none_or(|oneof| oneof.name() != CALL)
            })
            .filter(|field| self.message.has_field(field))
            .partition(|field| field.name() == NUMBER || is_duration(field));
        let shown = |field: &FieldDescriptor| Shown {
            value: self.message.get_field(field),
            kind: field.kind(),
            texts: &self.texts,
        };
        for field in own {
            map.serialize_entry(field.name(), &shown(&field))?;
        }
        if let Some((_, content)) = &content
            && let Some(message) = content.as_message()
        {
            for (field, is_set) in shown_fields(message) {
                let value = is_set.then(|| Shown {
                    value: message.get_field(&field),
                    kind: field.kind(),
                    texts: &self.texts,
                });
                map.serialize_entry(field.name(), &value)?;
            }
        }
        for field in others {
            map.serialize_entry(field.name(), &shown(&field))?;
        }
        map.end()
    }
}

fn is_duration(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Kind::Message(message) if message.full_name() == DURATION)
}

/// The fields of a message that are written: those of a choice where they are set, and all others;
/// with each, whether it has a value. One that may be left out, and is, has none.
fn shown_fields(message: &DynamicMessage) -> Vec<(FieldDescriptor, bool)> {
    let descriptor = message.descriptor();
    let fields = descriptor.fields();
    let shown = fields.filter_map(|field| {
        let is_set = message.has_field(&field);
        // An optional field is a choice of its own, in descriptors.
        let is_choice = field
            .containing_oneof()
            .is_some_and(|oneof| !oneof.is_synthetic());
        (is_set || !is_choice).then(|| {
            let has_value = is_set || !field.supports_presence();
            (field, has_value)
        })
    });
    shown.collect()
}

/// A value, to be written.
struct Shown<'a> {
    value: Cow<'a, Value>,
    kind: Kind,
    texts: &'a HashMap<String, EnumTexts>,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.value {
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I32(value) => serializer.serialize_i32(*value),
            Value::I64(value) => serializer.serialize_i64(*value),
            Value::U32(value) => serializer.serialize_u32(*value),
            Value::U64(value) if matches!(self.kind, Kind::Fixed64) => {
                serializer.collect_str(value)
            }
            Value::U64(value) => serializer.serialize_u64(*value),
            Value::F32(value) => serializer.serialize_f32(*value),
            Value::F64(value) => serializer.serialize_f64(*value),
            Value::String(value) => serializer.serialize_str(value),
            Value::Bytes(value) => serializer.collect_seq(value),
            Value::EnumNumber(number) => match &self.kind {
                Kind::Enum(one) => match self.texts[one.full_name()].by_number.get(number) {
                    Some(text) => serializer.serialize_str(text),
                    // Of a later version.
                    None => serializer.serialize_i32(*number),
                },
                _ => serializer.serialize_i32(*number),
            },
            Value::Message(message) => match seconds(message) {
                Some(seconds) => serializer.serialize_f64(seconds),
                None => self.serialize_message(message, serializer),
            },
            Value::List(values) => {
                let mut sequence = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    sequence
                        .serialize_element(&self.with(Cow::Borrowed(value), self.kind.clone()))?;
                }
                sequence.end()
            }
            Value::Map(_) => Err(S::Error::custom("no message of a game has a map")),
        }
    }
}

impl Shown<'_> {
    fn with<'b>(&'b self, value: Cow<'b, Value>, kind: Kind) -> Shown<'b> {
        Shown {
            value,
            kind,
            texts: self.texts,
        }
    }

    fn serialize_message<S: Serializer>(
        &self,
        message: &DynamicMessage,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (field, is_set) in shown_fields(message) {
            let value = is_set.then(|| self.with(message.get_field(&field), field.kind()));
            map.serialize_entry(field.name(), &value)?;
        }
        map.end()
    }
}

/// A duration in seconds; none for another message.
fn seconds(message: &DynamicMessage) -> Option<f64> {
    let descriptor = message.descriptor();
    if descriptor.full_name() != DURATION {
        return None;
    }
    let whole = message.get_field_by_name("seconds")?.as_i64()?;
    let nanos = message.get_field_by_name("nanos")?.as_i32()?;
    Some(whole as f64 + f64::from(nanos) / 1e9)
}

/// Reads JSON as messages.
struct Reader<'a> {
    texts: &'a HashMap<String, EnumTexts>,
}

impl Reader<'_> {
    /// A message; `place` names it in errors.
    fn message(
        &self,
        descriptor: &MessageDescriptor,
        object: serde_json::Map<String, Json>,
        place: &str,
    ) -> Result<DynamicMessage, String> {
        let mut message = DynamicMessage::new(descriptor.clone());
        for (name, value) in object {
            let Some(field) = descriptor.get_field_by_name(&name) else {
                let fields: Vec<String> = (descriptor.fields())
                    .map(|field| field.name().to_owned())
                    .collect();
                let expected = match fields.is_empty() {
                    true => "{}".to_owned(),
                    false => listed(&fields),
                };
                let name = shorten(&name, LONGEST_QUOTATION);
                return Err(format!("{place} has \"{name}\": expected {expected}"));
            };
            if value.is_null() {
                continue;
            }
            let value = match field.is_list() {
                true => self.list(&field.kind(), value, &name)?,
                false => self.value(&field.kind(), value, &name)?,
            };
            message
                .try_set_field(&field, value)
                .map_err(|error| format!("\"{name}\": {error}"))?;
        }
        Ok(message)
    }

    fn list(&self, kind: &Kind, value: Json, name: &str) -> Result<Value, String> {
        let Json::Array(values) = value else {
            return Err(expected(name, "an array", &value));
        };
        let values = values
            .into_iter()
            .map(|value| self.value(kind, value, name));
        Ok(Value::List(values.collect::<Result<_, _>>()?))
    }

    fn value(&self, kind: &Kind, value: Json, name: &str) -> Result<Value, String> {
        let whole =
            |value: &Json| whole(value).ok_or_else(|| expected(name, "a whole number", value));
        let narrow = |_| expected(name, "a whole number of 32 bits", &value);
        Ok(match kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                Value::I32(whole(&value)?.try_into().map_err(narrow)?)
            }
            Kind::Uint32 | Kind::Fixed32 => Value::U32(whole(&value)?.try_into().map_err(narrow)?),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(whole(&value)?),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(whole(&value)?.try_into().map_err(narrow)?),
            Kind::Bool => match value {
                Json::Bool(value) => Value::Bool(value),
                other => return Err(expected(name, "true or false", &other)),
            },
            Kind::String => match value {
                Json::String(value) => Value::String(value),
                other => return Err(expected(name, "a string", &other)),
            },
            Kind::Float | Kind::Double => match (value.as_f64(), kind) {
                (Some(value), Kind::Float) => Value::F32(value as f32),
                (Some(value), _) => Value::F64(value),
                (None, _) => return Err(expected(name, "a number", &value)),
            },
            Kind::Bytes => match self.list(&Kind::Uint32, value, name)? {
                Value::List(values) => {
                    let bytes = values
                        .iter()
                        .map(|value| value.as_u32().and_then(|value| u8::try_from(value).ok()));
                    let bytes: Option<Vec<u8>> = bytes.collect();
                    let bytes = bytes
                        .ok_or_else(|| format!("\"{name}\": expected numbers from 0 to 255"))?;
                    Value::Bytes(bytes.into())
                }
                _ => return Err(format!("\"{name}\": expected an array")),
            },
            Kind::Enum(one) => {
                let texts = &self.texts[one.full_name()];
                let number = value
                    .as_str()
                    .and_then(|text| texts.by_text.get(&text.trim().to_lowercase()));
                let number = number.ok_or_else(|| expected(name, &texts.example(), &value))?;
                Value::EnumNumber(*number)
            }
            Kind::Message(one) => match value {
                Json::Object(object) => {
                    Value::Message(self.message(one, object, &format!("\"{name}\""))?)
                }
                other => {
                    let fields: Vec<String> = (one.fields())
                        .map(|field| format!("\"{}\"", field.name()))
                        .collect();
                    let what = match fields.is_empty() {
                        true => "{}".to_owned(),
                        false => format!("an object with {}", fields.join(", ")),
                    };
                    return Err(expected(name, &what, &other));
                }
            },
        })
    }
}

impl EnumTexts {
    /// The text of the first value that means something.
    fn first(&self) -> &str {
        let numbers = self.by_number.keys().filter(|number| **number > 0);
        numbers.min().map_or("", |number| &self.by_number[number])
    }

    /// The texts that may be written, or the first of many.
    fn example(&self) -> String {
        const MOST: usize = 6;
        let mut numbers: Vec<&i32> = self
            .by_number
            .keys()
            .filter(|number| **number != 0)
            .collect();
        numbers.sort();
        let texts = numbers
            .iter()
            .take(MOST)
            .map(|number| format!("\"{}\"", self.by_number[number]));
        let texts = texts.collect::<Vec<_>>().join(", ");
        let more = if numbers.len() > MOST { ", …" } else { "" };
        format!("one of {texts}{more}")
    }
}

/// A whole number, also where it is written as `3.0`.
fn whole(value: &Json) -> Option<i64> {
    const EXACT: f64 = (1_u64 << 53) as f64;
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
    })
}

fn expected(name: &str, expected: &str, found: &Json) -> String {
    format!(
        "\"{name}\": expected {expected}, found {}",
        quoted_json(found)
    )
}

fn quoted_json(value: &Json) -> String {
    shorten(&value.to_string(), LONGEST_QUOTATION)
}

fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match &names[..] {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use arena_proto::{
        arena::v1::{AnswerEnvelope, GameStart},
        games::{
            big_two::v1::{
                BigTwoCall, Card, GetDeal, RequestPlay, Table, big_two_call::Call as BigTwo,
            },
            connect_four::v1::{
                Board, ConnectFourAnswer, ConnectFourCall, GetPoint, Point, connect_four_answer,
                connect_four_call::Call as ConnectFour,
            },
            mahjong::v1::{
                Claim, GetDraw, MahjongAnswer, MahjongCall, Tile, mahjong_answer,
                mahjong_call::Call as Mahjong,
            },
        },
    };
    use prost::Message as _;

    use super::*;

    fn game(name: &str) -> GameMessages {
        let path = format!("/games.{name}.v1.");
        let (_, messages) = games()
            .into_iter()
            .find(|(known, _)| known.starts_with(&path))
            .unwrap();
        messages
    }

    fn line(name: &str, call: &impl prost::Message) -> String {
        game(name).call(&call.encode_to_vec()).unwrap().line()
    }

    fn answer(name: &str, text: &str) -> Result<Vec<u8>, String> {
        let object = serde_json::from_str(text).unwrap();
        Ok(game(name).answer(object)?.encode_to_vec())
    }

    #[test]
    fn a_question_is_one_object_with_what_is_asked_first() {
        let call = ConnectFourCall {
            number: Some(3),
            limit: Some(prost_types::Duration {
                seconds: 2,
                nanos: 500_000_000,
            }),
            call: Some(ConnectFour::GetPoint(GetPoint {
                m: 1,
                n: 2,
                top: vec![1, 0].into(),
                board: vec![0, 2].into(),
                last_x: -1,
                last_y: -1,
                no_x: -1,
                no_y: -1,
            })),
            ..ConnectFourCall::default()
        };
        let expected = r#"{"call":"get_point","number":3,"limit":2.5,"m":1,"n":2,"top":[1,0],"board":[0,2],"last_x":-1,"last_y":-1,"no_x":-1,"no_y":-1}"#;
        assert_eq!(line("connect_four", &call), expected);
    }

    #[test]
    fn random_bits_are_a_string_and_what_is_left_out_is_null() {
        let call = BigTwoCall {
            number: Some(0),
            call: Some(BigTwo::Start(GameStart {
                game: "big_two".to_owned(),
                seats: 4,
                bot_seed: u64::MAX,
                ..GameStart::default()
            })),
            table: Some(Table {
                scoring: 1,
                reversal: true,
                cards_left: vec![14, 14, 13, 13],
            }),
            get_deal: Some(GetDeal {
                cards: vec![
                    Card::ThreeOfClubs.into(),
                    Card::TenOfHearts.into(),
                    Card::Joker1.into(),
                ],
            }),
            ..BigTwoCall::default()
        };
        let shown: Json = serde_json::from_str(&line("big_two", &call)).unwrap();
        assert_eq!(shown["call"], "start");
        assert_eq!(shown["bot_seed"], "18446744073709551615");
        assert_eq!(shown["budget"], Json::Null);
        assert_eq!(shown["table"]["scoring"], "places");
        assert_eq!(
            shown["get_deal"]["cards"],
            serde_json::json!(["3C", "10H", "JK1"])
        );
        let call = BigTwoCall {
            call: Some(BigTwo::RequestPlay(RequestPlay::default())),
            ..BigTwoCall::default()
        };
        let expected = r#"{"call":"request_play","to_beat":null,"reversed":false,"must_include_three_of_clubs":false}"#;
        assert_eq!(line("big_two", &call), expected);
    }

    #[test]
    fn tiles_are_what_people_write() {
        let call = MahjongCall {
            call: Some(Mahjong::GetDraw(GetDraw {
                tiles: vec![Tile::C3.into(), Tile::D9.into()],
            })),
            ..MahjongCall::default()
        };
        assert_eq!(
            line("mahjong", &call),
            r#"{"call":"get_draw","tiles":["3c","9d"]}"#
        );
        for (text, expected) in [
            (
                r#"{"discard":"3C"}"#,
                mahjong_answer::Answer::Discard(Tile::C3.into()),
            ),
            (
                r#"{"win":"pass"}"#,
                mahjong_answer::Answer::Win(Claim::Pass.into()),
            ),
        ] {
            let read = MahjongAnswer::decode(&*answer("mahjong", text).unwrap()).unwrap();
            assert_eq!(read.answer, Some(expected));
        }
    }

    #[test]
    fn an_answer_gets_the_number_of_its_question_where_it_says_none() {
        let messages = game("connect_four");
        let point = Point {
            x: Some(8),
            y: Some(0),
        };
        for (text, number) in [
            (r#"{"point":{"x":8,"y":0.0}}"#, 5),
            (r#"{"point":{"x":8,"y":0},"number":7}"#, 7),
        ] {
            let object = serde_json::from_str(text).unwrap();
            let answer = messages.numbered(messages.answer(object).unwrap(), 5);
            let read = ConnectFourAnswer::decode(&*answer.encode_to_vec()).unwrap();
            assert_eq!(read.number, Some(number));
            assert_eq!(read.answer, Some(connect_four_answer::Answer::Point(point)));
        }
        let ready = answer("connect_four", r#"{"ready":{}}"#).unwrap();
        let ready = AnswerEnvelope::decode(&*ready).unwrap();
        assert_eq!(ready.ready, Some(Default::default()));
    }

    #[test]
    fn examples_have_the_form_of_an_answer() {
        let call = |name: &str, call: &dyn Fn() -> Vec<u8>| game(name).call(&call()).unwrap();
        let asks = call("connect_four", &|| {
            let get_point = ConnectFour::GetPoint(GetPoint::default());
            let call = Some(get_point);
            ConnectFourCall {
                call,
                ..ConnectFourCall::default()
            }
            .encode_to_vec()
        });
        let messages = game("connect_four");
        assert_eq!(messages.example(&asks), r#"{"point":{"x":0,"y":0}}"#);
        let asks = call("big_two", &|| {
            let call = Some(BigTwo::RequestPlay(RequestPlay::default()));
            BigTwoCall {
                call,
                ..BigTwoCall::default()
            }
            .encode_to_vec()
        });
        let example = game("big_two").example(&asks);
        assert_eq!(example, r#"{"play":{"cards":["3C"]}} or {"pass":{}}"#);
    }

    #[test]
    fn wrong_answers_say_what_was_expected() {
        for (name, text, says) in [
            ("connect_four", r"{}", r#"has none of "ready" or "point""#),
            (
                "big_two",
                r#"{"pass":{},"play":{"cards":["3C"]}}"#,
                r#"expected one answer, "play" or "pass""#,
            ),
            (
                "connect_four",
                r#"{"move":3}"#,
                r#"has "move": expected "number", "ready" or "point""#,
            ),
            (
                "connect_four",
                r#"{"point":3}"#,
                r#""point": expected an object with "x", "y", found 3"#,
            ),
            (
                "connect_four",
                r#"{"point":{"x":"8"}}"#,
                r#""x": expected a whole number, found "8""#,
            ),
            ("connect_four", r#"{"point":{"x":4294967296}}"#, "32 bits"),
            (
                "mahjong",
                r#"{"discard":"10c"}"#,
                r#"expected one of "1c", "2c""#,
            ),
            (
                "mahjong",
                r#"{"win":true}"#,
                r#"expected one of "win", "pass", found true"#,
            ),
            ("big_two", r#"{"play":{"cards":"3C"}}"#, "expected an array"),
            ("big_two", r#"{"pass":{"x":1}}"#, r#"has "x": expected {}"#),
        ] {
            let why = answer(name, text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    /// The fields of what a call is stand beside those that come with it.
    #[test]
    fn no_two_fields_of_a_call_have_one_name() {
        let games = games();
        assert!(games.len() >= 4);
        for (path, messages) in games {
            let calls = choice(&messages.call, CALL).unwrap();
            let outer: Vec<String> = (messages.call.fields())
                .filter(|field| {
                    field
                        .containing_oneof()
                        .is_none_or(|oneof| oneof.name() != CALL)
                })
                .map(|field| field.name().to_owned())
                .chain([CALL.to_owned()])
                .collect();
            for call in calls.fields() {
                let Kind::Message(inner) = call.kind() else {
                    panic!("{path}: {}", call.name());
                };
                for field in inner.fields() {
                    // `board` comes with `start` alone.
                    let is_apart = call.name() != "start" && field.name() == "board";
                    assert!(
                        is_apart || !outer.contains(&field.name().to_owned()),
                        "{path}: {}",
                        field.name()
                    );
                }
            }
        }
    }

    #[test]
    fn a_board_comes_with_the_start() {
        let call = ConnectFourCall {
            call: Some(ConnectFour::Start(GameStart::default())),
            board: Some(Board {
                m: 9,
                n: 9,
                no_x: -1,
                no_y: -1,
                board: None,
                last: None,
            }),
            ..ConnectFourCall::default()
        };
        let shown: Json = serde_json::from_str(&line("connect_four", &call)).unwrap();
        let expected =
            serde_json::json!({"m":9,"n":9,"no_x":-1,"no_y":-1,"board":null,"last":null});
        assert_eq!(shown["board"], expected);
    }
}
