//! What crosses the wire: the messages and, with the feature `grpc`, the
//! service stubs. Generated from the `.proto` files beside this crate; no
//! logic.

#[cfg(feature = "grpc")]
pub mod codec;
#[cfg(feature = "grpc")]
pub mod opaque;

/// The envelope that all games share, and the referee's own service.
pub mod arena {
    /// Version 1; within it fields are only added.
    #[allow(
        missing_docs,
        unreachable_pub,
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        reason = "generated; the .proto files document it"
    )]
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/arena.v1.rs"));
    }
}

/// One module a game.
pub mod games {
    /// Connect Four with a forbidden cell.
    pub mod connect_four {
        /// Version 1; within it fields are only added.
        #[allow(
            missing_docs,
            unreachable_pub,
            clippy::allow_attributes,
            clippy::allow_attributes_without_reason,
            reason = "generated; the .proto files document it"
        )]
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/games.connect_four.v1.rs"));
        }
    }
}

/// Every file above as an encoded `google.protobuf.FileDescriptorSet`, for
/// server reflection and for the check of the envelope.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
