//! Protobuf's wire format: a sequence of numbered fields.

/// A field of a message.
pub(super) enum ProtobufField<'m> {
    Varint {
        number: u64,
        value: u64,
    },
    Bytes {
        number: u64,
        value: &'m [u8],
    },
    /// A fixed-size field, including its tag.
    Fixed {
        encoded: &'m [u8],
    },
}

/// The file is not a valid protobuf message.
#[derive(Debug, thiserror::Error)]
#[error("it is not an ONNX graph, or a damaged one")]
pub(in crate::speech) struct MalformedGraph;

impl ProtobufField<'_> {
    pub(super) fn write_to(&self, message: &mut Vec<u8>) {
        match self {
            ProtobufField::Varint { number, value } => put_varint(message, *number, *value),
            ProtobufField::Bytes { number, value } => put_bytes(message, *number, value),
            ProtobufField::Fixed { encoded } => message.extend_from_slice(encoded),
        }
    }
}

pub(super) fn read_fields(
    message: &[u8],
) -> impl Iterator<Item = Result<ProtobufField<'_>, MalformedGraph>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = read_field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field.ok_or(MalformedGraph))
    })
}

pub(super) fn put_varint(message: &mut Vec<u8>, number: u64, value: u64) {
    push_varint(message, number << 3 | VARINT);
    push_varint(message, value);
}

pub(super) fn put_bytes(message: &mut Vec<u8>, number: u64, value: &[u8]) {
    push_varint(message, number << 3 | BYTES);
    push_varint(message, value.len() as u64);
    message.extend_from_slice(value);
}

const VARINT: u64 = 0;
const FIXED_8: u64 = 1;
const BYTES: u64 = 2;
const FIXED_4: u64 = 5;

fn read_field<'m>(rest: &mut &'m [u8]) -> Option<ProtobufField<'m>> {
    let whole = *rest;
    let head = read_varint(rest)?;
    let number = head >> 3;
    match head & 7 {
        VARINT => Some(ProtobufField::Varint { number, value: read_varint(rest)? }),
        BYTES => {
            let length = usize::try_from(read_varint(rest)?).ok()?;
            Some(ProtobufField::Bytes { number, value: take_bytes(rest, length)? })
        }
        kind @ (FIXED_4 | FIXED_8) => {
            take_bytes(rest, if kind == FIXED_4 { 4 } else { 8 })?;
            Some(ProtobufField::Fixed { encoded: &whole[..whole.len() - rest.len()] })
        }
        _ => None,
    }
}

fn take_bytes<'m>(rest: &mut &'m [u8], length: usize) -> Option<&'m [u8]> {
    let (value, more) = rest.split_at_checked(length)?;
    *rest = more;
    Some(value)
}

/// A varint: seven bits per byte, lowest first.
fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *take_bytes(rest, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    while 0x80 <= value {
        message.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
