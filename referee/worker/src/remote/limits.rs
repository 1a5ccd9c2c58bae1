//! The longest texts, bytes and lists of messages: one table for every message of
//! `arena.v1.Dispatch`, in both directions, and one function that checks it. Whoever gets a message
//! looks at this before anything else.

use arena_proto::arena::v1::{
    self as proto, attend_reply::Message as Down, attend_request::Message as Up,
    lease_reply::Reply, live_update::Event,
};
use referee::GAME_LOG_LIMIT;
use referee_core::JsonBounds;

use super::wire::BadMessage;

/// A name or another text for people, in bytes.
pub const TEXT: usize = 200;
/// The name of a tournament or a worker, which may have 200 letters, in bytes.
pub const NAME: usize = 800;
/// The rules of so many games are named in a version.
pub const GAMES_KNOWN: usize = 64;
/// Labels and addresses of a machine, of each so many.
pub const LABELS: usize = 1000;
/// Leases of one process.
pub const LEASES: usize = 4096;
/// Games of a lease.
pub const LEASED_GAMES: usize = 100_000;
/// Games of a report.
pub const REPORTED_GAMES: usize = 1024;
/// A packed record, in bytes; a usual one has less than a hundredth of it.
pub const RECORD: usize = 8 * 1024 * 1024;
/// What a bot printed in a game, in bytes, with the words for what is left out.
pub const LOG: usize = GAME_LOG_LIMIT + 1024;
/// The bots of a game.
pub const SEATS: usize = 255;
/// The SPEC of a bot, in bytes.
pub const SPEC: usize = 64 * 1024;
/// A part of an archive, in bytes.
pub const ARCHIVE_PART: usize = 1024 * 1024;
/// A session, and the seed of a game, in bytes.
pub const SESSION: usize = 16;
const SEED: usize = 32;
/// The hash of an archive, in digits.
const HASH: usize = 64;

/// The largest message of each call that a worker makes, by its path, in bytes: what is larger is
/// not read.
pub const MESSAGES: [(&str, usize); 5] = [
    ("/arena.v1.Dispatch/Attend", 256 * 1024),
    ("/arena.v1.Dispatch/Lease", 1024),
    ("/arena.v1.Dispatch/Report", 12 * 1024 * 1024),
    ("/arena.v1.Dispatch/GiveBack", 4 * 1024 * 1024),
    ("/arena.v1.Dispatch/FetchArchive", 1024),
];

/// A message whose texts, bytes and lists are within what this page says.
pub trait Within {
    /// Checks that it is.
    ///
    /// # Errors
    ///
    /// The first field that is not.
    fn within(&self) -> Result<(), BadMessage>;
}

/// One field: a text, bytes or a list, and how much it may hold.
fn at_most(field: &str, found: usize, most: usize) -> Result<(), BadMessage> {
    if found <= most {
        return Ok(());
    }
    Err(BadMessage::new(format!(
        "{field}: expected at most {most}, found {found}"
    )))
}

/// A list, and each of its texts.
fn texts<'a>(
    field: &str,
    texts: impl ExactSizeIterator<Item = &'a String>,
    most: usize,
) -> Result<(), BadMessage> {
    at_most(field, texts.len(), most)?;
    for text in texts {
        at_most(field, text.len(), TEXT)?;
    }
    Ok(())
}

impl Within for proto::AttendRequest {
    fn within(&self) -> Result<(), BadMessage> {
        match &self.message {
            Some(Up::Join(join)) => join.within(),
            Some(Up::Renew(renew)) => at_most("leases", renew.leases.len(), LEASES),
            Some(Up::Live(update)) => match &update.event {
                Some(Event::Started(started)) => {
                    at_most("started.game_id", started.game_id.len(), TEXT)
                }
                Some(Event::Played(played)) => {
                    at_most("played.notation", played.notation.len(), TEXT)
                }
                None => Ok(()),
            },
            None => Ok(()),
        }
    }
}

impl Within for proto::Join {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("session", self.session.len(), SESSION)?;
        at_most("name", self.name.len(), NAME)?;
        if let Some(version) = &self.version {
            at_most("version.program", version.program.len(), TEXT)?;
            texts("version.rules", version.rules.keys(), GAMES_KNOWN)?;
        }
        if let Some(machine) = &self.machine {
            at_most("machine.host", machine.host.len(), TEXT)?;
            texts("machine.provides", machine.provides.iter(), LABELS)?;
            at_most("machine.isolation", machine.isolation.len(), TEXT)?;
            texts("machine.bots", machine.bots.iter(), LABELS)?;
        }
        Ok(())
    }
}

impl Within for proto::LeaseRequest {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("session", self.session.len(), SESSION)?;
        let scope = self.scope.as_ref();
        at_most(
            "scope.tournament",
            scope.map_or(0, |scope| scope.tournament.len()),
            NAME,
        )
    }
}

impl Within for proto::ReportRequest {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("session", self.session.len(), SESSION)?;
        at_most("games", self.games.len(), REPORTED_GAMES)?;
        self.games.iter().try_for_each(|game| {
            at_most("games.record", game.record.len(), RECORD)?;
            at_most("games.logs", game.logs.len(), SEATS)?;
            let mut logs = game.logs.iter();
            logs.try_for_each(|log| at_most("games.logs", log.len(), LOG))
        })
    }
}

impl Within for proto::GiveBackRequest {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("session", self.session.len(), SESSION)?;
        at_most("unplayed", self.unplayed.len(), LEASED_GAMES)?;
        at_most("memory", self.memory.len(), SEATS)
    }
}

impl Within for proto::FetchArchiveRequest {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("session", self.session.len(), SESSION)?;
        at_most("hash", self.hash.len(), HASH)
    }
}

impl Within for proto::AttendReply {
    fn within(&self) -> Result<(), BadMessage> {
        match &self.message {
            Some(Down::Welcome(welcome)) => at_most("name", welcome.name.len(), NAME),
            Some(Down::Standing(standing)) => {
                at_most("lost", standing.lost.len(), LEASES)?;
                at_most("unwanted", standing.unwanted.len(), LEASES)?;
                let mut unwanted = standing.unwanted.iter();
                unwanted.try_for_each(|unwanted| {
                    at_most("unwanted.groups", unwanted.groups.len(), LEASED_GAMES)
                })
            }
            None => Ok(()),
        }
    }
}

impl Within for proto::LeaseReply {
    fn within(&self) -> Result<(), BadMessage> {
        let Some(Reply::Work(lease)) = &self.reply else {
            return Ok(());
        };
        at_most("game", lease.game.len(), TEXT)?;
        at_most("bots", lease.bots.len(), SEATS)?;
        for bot in &lease.bots {
            at_most("bots.name", bot.name.len(), TEXT)?;
            at_most("bots.spec", bot.spec.len(), SPEC)?;
        }
        at_most("games", lease.games.len(), LEASED_GAMES)?;
        for game in &lease.games {
            at_most("games.game_id", game.game_id.len(), TEXT)?;
            at_most(
                "games.setup_json",
                game.setup_json.len(),
                JsonBounds::SETUP.bytes,
            )?;
            at_most("games.seed", game.seed.len(), SEED)?;
            at_most("games.order", game.order.len(), SEATS)?;
        }
        Ok(())
    }
}

impl Within for proto::ReportReply {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("games", self.games.len(), REPORTED_GAMES)
    }
}

impl Within for proto::FetchArchiveReply {
    fn within(&self) -> Result<(), BadMessage> {
        at_most("part", self.part.len(), ARCHIVE_PART)
    }
}

impl Within for proto::GiveBackReply {
    fn within(&self) -> Result<(), BadMessage> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prost::Message as _;
    use prost_types::{
        DescriptorProto, FieldDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
        field_descriptor_proto::{Label, Type},
    };

    use super::*;

    /// More than any field may hold.
    const TOO_MUCH: usize = RECORD + 1;

    /// Every message of the files, by its name as in `.arena.v1.Join`.
    fn messages(set: &FileDescriptorSet) -> BTreeMap<String, DescriptorProto> {
        fn add(
            found: &mut BTreeMap<String, DescriptorProto>,
            within: &str,
            message: &DescriptorProto,
        ) {
            let name = format!("{within}.{}", message.name());
            for nested in &message.nested_type {
                add(found, &name, nested);
            }
            found.insert(name, message.clone());
        }
        let mut found = BTreeMap::new();
        for file in &set.file {
            for message in &file.message_type {
                add(&mut found, &format!(".{}", file.package()), message);
            }
        }
        found
    }

    fn methods(set: &FileDescriptorSet) -> Vec<MethodDescriptorProto> {
        let services = set.file.iter().flat_map(|file| &file.service);
        let dispatch = services.filter(|service| service.name() == "Dispatch");
        dispatch
            .flat_map(|service| service.method.clone())
            .collect()
    }

    fn varint(mut value: u64, into: &mut Vec<u8>) {
        while value > 127 {
            into.push(value as u8 | 128);
            value >>= 7;
        }
        into.push(value as u8);
    }

    /// A field whose bytes have a length in front.
    fn field(number: i32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        varint(number as u64 * 8 + 2, &mut bytes);
        varint(content.len() as u64, &mut bytes);
        bytes.extend(content);
        bytes
    }

    /// A text, bytes or a list of a message: the numbers of the fields that lead to it, and whether
    /// it is the list that holds too much, or one value.
    struct Place {
        path: String,
        above: Vec<i32>,
        field: FieldDescriptorProto,
        is_list: bool,
    }

    /// Every one below a message.
    fn places(
        known: &BTreeMap<String, DescriptorProto>,
        message: &str,
        path: &str,
        above: &[i32],
    ) -> Vec<Place> {
        let mut found = Vec::new();
        let Some(described) = known.get(message).filter(|_| above.len() < 8) else {
            return found;
        };
        for field in &described.field {
            let path = format!("{path}.{}", field.name());
            let mut place = |is_list| {
                found.push(Place {
                    path: path.clone(),
                    above: above.to_vec(),
                    field: field.clone(),
                    is_list,
                });
            };
            if field.label() == Label::Repeated {
                place(true);
            }
            match field.r#type() {
                Type::String | Type::Bytes => place(false),
                Type::Message => {
                    let above = [above, &[field.number()]].concat();
                    found.extend(places(known, field.type_name(), &path, &above));
                }
                _ => {}
            }
        }
        found
    }

    impl Place {
        /// A message in which it holds too much.
        fn too_much(&self) -> Vec<u8> {
            let number = self.field.number();
            let many = LEASED_GAMES + 1;
            let bytes = match (self.is_list, self.field.r#type()) {
                (false, _) => field(number, &vec![b'x'; TOO_MUCH]),
                (true, Type::Message) if self.field.type_name().ends_with("RulesEntry") => {
                    // Two of one name are one.
                    let entry = |at: usize| field(number, &field(1, at.to_string().as_bytes()));
                    (0..many).flat_map(entry).collect()
                }
                (true, Type::Message | Type::String | Type::Bytes) => {
                    field(number, &[]).repeat(many)
                }
                // Packed numbers.
                (true, _) => field(number, &vec![1; many]),
            };
            let above = self.above.iter().rev();
            above.fold(bytes, |bytes, number| field(*number, &bytes))
        }
    }

    fn check(message: &str, bytes: &[u8]) -> Result<(), BadMessage> {
        fn of<M: prost::Message + Default + Within>(bytes: &[u8]) -> Result<(), BadMessage> {
            M::decode(bytes).expect("a message").within()
        }
        match message {
            ".arena.v1.AttendRequest" => of::<proto::AttendRequest>(bytes),
            ".arena.v1.AttendReply" => of::<proto::AttendReply>(bytes),
            ".arena.v1.LeaseRequest" => of::<proto::LeaseRequest>(bytes),
            ".arena.v1.LeaseReply" => of::<proto::LeaseReply>(bytes),
            ".arena.v1.ReportRequest" => of::<proto::ReportRequest>(bytes),
            ".arena.v1.ReportReply" => of::<proto::ReportReply>(bytes),
            ".arena.v1.GiveBackRequest" => of::<proto::GiveBackRequest>(bytes),
            ".arena.v1.GiveBackReply" => of::<proto::GiveBackReply>(bytes),
            ".arena.v1.FetchArchiveRequest" => of::<proto::FetchArchiveRequest>(bytes),
            ".arena.v1.FetchArchiveReply" => of::<proto::FetchArchiveReply>(bytes),
            other => panic!("{other}: no check knows this message"),
        }
    }

    #[test]
    fn every_text_and_list_that_the_wire_can_bring_has_a_bound() {
        let set = FileDescriptorSet::decode(arena_proto::DESCRIPTORS).unwrap();
        let known = messages(&set);
        let mut fields = 0;
        for method in methods(&set) {
            for message in [method.input_type(), method.output_type()] {
                check(message, &[]).unwrap();
                for place in places(&known, message, message, &[]) {
                    let checked = check(message, &place.too_much());
                    assert!(checked.is_err(), "{} has no bound", place.path);
                    fields += 1;
                }
            }
        }
        assert!(fields > 35, "found {fields}");
    }

    #[test]
    fn every_call_of_a_worker_has_a_largest_message() {
        let set = FileDescriptorSet::decode(arena_proto::DESCRIPTORS).unwrap();
        let paths = methods(&set).into_iter();
        let paths: Vec<String> = paths
            .map(|method| format!("/arena.v1.Dispatch/{}", method.name()))
            .collect();
        assert_eq!(paths, MESSAGES.map(|(path, _)| path));
    }
}
