//! The names of a game's calls, read from its .proto file.

use prost::{
    Message as _,
    encoding::{DecodeContext, decode_key, skip_field},
};
use prost_types::FileDescriptorSet;
use referee_core::GameKind;

/// The calls of one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// The field number of each call, and its name.
    named: Vec<(u32, String)>,
}

impl Calls {
    /// The calls of this game; none if its descriptors lack its service.
    #[must_use]
    pub fn of(kind: &dyn GameKind) -> Self {
        Self {
            named: named(kind.descriptors(), kind.path()).unwrap_or_default(),
        }
    }

    /// The names of all calls, in order of their fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(_, name)| name.as_str())
    }

    /// The name of the call in this message; `None` if it is not one of these calls.
    #[must_use]
    pub fn name(&self, mut call: &[u8]) -> Option<&str> {
        while !call.is_empty() {
            let (field, wire) = decode_key(&mut call).ok()?;
            if let Some((_, name)) = self.named.iter().find(|(known, _)| *known == field) {
                return Some(name);
            }
            skip_field(wire, field, &mut call, DecodeContext::default()).ok()?;
        }
        None
    }
}

/// The members of the `oneof call` in the request of the service at this path.
fn named(descriptors: &[u8], path: &str) -> Option<Vec<(u32, String)>> {
    let files = FileDescriptorSet::decode(descriptors).expect("the build wrote them");
    let files = files.file;
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let (package, service) = service.rsplit_once('.')?;
    let file = files.iter().find(|file| file.package() == package)?;
    let service = file.service.iter().find(|known| known.name() == service)?;
    let method = service.method.iter().find(|known| known.name() == method)?;
    let input = method.input_type().rsplit('.').next()?;
    let message = file
        .message_type
        .iter()
        .find(|known| known.name() == input)?;
    let oneof = message
        .oneof_decl
        .iter()
        .position(|oneof| oneof.name() == "call")?;
    let members = message
        .field
        .iter()
        .filter(|field| field.oneof_index == i32::try_from(oneof).ok());
    Some(
        members
            .map(|field| (field.number() as u32, field.name().to_owned()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_as_in_the_proto_files() {
        for (game, names) in [
            (
                "connect_four",
                vec!["start", "over", "forfeit", "get_point"],
            ),
            (
                "mahjong",
                vec![
                    "start",
                    "over",
                    "forfeit",
                    "get_draw",
                    "request_discard",
                    "get_opp_discard",
                    "request_win",
                ],
            ),
        ] {
            let kind = crate::game(game).unwrap();
            let calls = Calls::of(kind);
            assert_eq!(calls.names().collect::<Vec<_>>(), names);
        }
        assert_eq!(
            named(arena_proto::DESCRIPTORS, "/no.such.Service/Play"),
            None
        );
    }

    #[test]
    fn a_message_is_known_by_its_field() {
        let calls = Calls::of(crate::game("othello").unwrap());
        let over = arena_proto::arena::v1::CallEnvelope {
            number: Some(300),
            call: Some(arena_proto::arena::v1::call_envelope::Call::Over(
                arena_proto::arena::v1::GameOver::default(),
            )),
            ..Default::default()
        };
        assert_eq!(calls.name(&over.encode_to_vec()), Some("over"));
        assert_eq!(calls.name(&[8, 1]), None);
        assert_eq!(calls.name(&[255]), None);
    }
}
