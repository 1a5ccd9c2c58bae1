//! Fields 1 to 9 of every game's Call and Answer are the envelope, the same in
//! every game: the referee writes and reads them without knowing the game.

use prost::Message as _;
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorSet, field_descriptor_proto::Type,
};

/// The largest field number that belongs to the envelope.
const LAST: i32 = 9;

fn files() -> FileDescriptorSet {
    FileDescriptorSet::decode(arena_proto::DESCRIPTORS).expect("our own descriptors")
}

fn envelope_of(message: &DescriptorProto) -> Vec<&FieldDescriptorProto> {
    let mut fields: Vec<_> = message
        .field
        .iter()
        .filter(|field| field.number() <= LAST)
        .collect();
    fields.sort_by_key(|field| field.number());
    fields
}

/// Name, number, type, and whether its presence can be told.
fn shape(field: &FieldDescriptorProto) -> (String, i32, Type, String, bool) {
    (
        field.name().to_owned(),
        field.number(),
        field.r#type(),
        field.type_name().to_owned(),
        field.proto3_optional() || field.r#type() == Type::Message,
    )
}

#[test]
fn every_game_has_the_same_envelope() {
    let files = files();
    let envelope = files
        .file
        .iter()
        .find(|file| file.name() == "arena/v1/envelope.proto")
        .expect("the envelope's file");
    let find = |name: &str| {
        let message = envelope.message_type.iter().find(|m| m.name() == name);
        message.expect("the envelope's message")
    };
    let mut games = 0;
    for file in files
        .file
        .iter()
        .filter(|f| f.package().starts_with("games."))
    {
        let service = file.service.first().expect("a game has a service");
        let bot = service.name().strip_suffix("Bot").expect("…Bot");
        let play = service.method.first().expect("a bot plays");
        assert_eq!(play.name(), "Play");
        assert!(play.client_streaming() && play.server_streaming());
        games += 1;
        for (ending, envelope) in [("Call", "CallEnvelope"), ("Answer", "AnswerEnvelope")] {
            let name = format!("{bot}{ending}");
            let message = file.message_type.iter().find(|m| m.name() == name);
            let message = message.unwrap_or_else(|| panic!("{} lacks {name}", file.name()));
            let found = envelope_of(message);
            let expected = envelope_of(find(envelope));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.into_iter().zip(expected) {
                if expected.name() == "past_answer" {
                    // To the envelope it is bytes; a game gives it its type,
                    // which is the same on the wire.
                    let answer = format!(".{}.{bot}Answer", file.package());
                    assert_eq!((found.name(), found.number()), ("past_answer", 3));
                    assert_eq!(found.type_name(), answer);
                    continue;
                }
                assert_eq!(shape(found), shape(expected), "{name}");
            }
        }
    }
    assert!(games > 0);
}
