//! Parses the header of a GGUF file: key-value pairs and tensor locations.

use std::io::{BufRead, Read};

use super::{GgufError, to_gguf_error};

/// The header fields that are used.
#[derive(Debug, Default)]
pub(super) struct GgufHead {
    pub(super) architecture: Option<String>,
    pub(super) name: Option<String>,
    pub(super) context_tokens: Option<u64>,
    pub(super) layers: Option<u64>,
    pub(super) template: Option<String>,
    /// Offset of the end of the last tensor.
    pub(super) needed_bytes: u64,
}

const MAGIC: &[u8; 4] = b"GGUF";
/// Real files have dozens of pairs and hundreds of tensors.
const PAIRS_MAX: u64 = 100_000;
const TENSORS_MAX: u64 = 1_000_000;
const DIMENSIONS_MAX: u32 = 4;
/// Enough for templates; tokens and names are much shorter.
const TEXT_BYTES_MAX: u64 = 1 << 20;
const ALIGNMENT: u64 = 32;
const CONTEXT_ENDING: &str = ".context_length";
const LAYERS_ENDING: &str = ".block_count";

impl GgufHead {
    /// `bytes` is the length of the whole file.
    pub(super) fn read(input: impl BufRead, bytes: u64) -> Result<GgufHead, GgufError> {
        let mut reader = GgufReader { input, at: 0, bytes };
        if &reader.read_array::<4>().map_err(|_| GgufError::Stranger)? != MAGIC {
            return Err(GgufError::Stranger);
        }
        let version = reader.read_u32()?;
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version(version));
        }
        let tensors = at_most(reader.read_u64()?, TENSORS_MAX, "too many tensors")?;
        let pairs = at_most(reader.read_u64()?, PAIRS_MAX, "too many values")?;
        let mut head = GgufHead::default();
        let mut alignment = ALIGNMENT;
        for _ in 0..pairs {
            let key = reader.read_text()?;
            let value = reader.read_value()?;
            head.set_field(&key, value, &mut alignment);
        }
        let mut end = 0;
        for _ in 0..tensors {
            end = reader.tensor_end()?.max(end);
        }
        let is_plain = alignment.is_power_of_two() && alignment <= 1 << 20;
        let alignment = if is_plain { alignment } else { return Err(WRONG_ALIGNMENT) };
        head.needed_bytes = reader.at.next_multiple_of(alignment).saturating_add(end);
        Ok(head)
    }

    fn set_field(&mut self, key: &str, value: GgufValue, alignment: &mut u64) {
        match (key, value) {
            ("general.architecture", GgufValue::Text(text)) => self.architecture = Some(text),
            ("general.name", GgufValue::Text(text)) => self.name = Some(text),
            ("general.alignment", GgufValue::Number(number)) => *alignment = number,
            ("tokenizer.chat_template", GgufValue::Text(text)) => self.template = Some(text),
            (key, GgufValue::Number(number)) if key.ends_with(CONTEXT_ENDING) => {
                self.context_tokens = Some(number);
            }
            (key, GgufValue::Number(number)) if key.ends_with(LAYERS_ENDING) => {
                self.layers = Some(number);
            }
            _ => {}
        }
    }
}

const WRONG_ALIGNMENT: GgufError = GgufError::Malformed("an alignment that is none");

/// Only the used types are parsed.
enum GgufValue {
    Text(String),
    Number(u64),
    Other,
}

struct GgufReader<R> {
    input: R,
    at: u64,
    bytes: u64,
}

impl<R: BufRead> GgufReader<R> {
    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        self.check_remaining(N as u64)?;
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(to_gguf_error)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn read_u32(&mut self) -> Result<u32, GgufError> {
        self.read_array().map(u32::from_le_bytes)
    }

    fn read_u64(&mut self) -> Result<u64, GgufError> {
        self.read_array().map(u64::from_le_bytes)
    }

    fn read_text(&mut self) -> Result<String, GgufError> {
        let length = at_most(self.read_u64()?, TEXT_BYTES_MAX, "a text that is too long")?;
        self.check_remaining(length)?;
        let mut bytes = Vec::new();
        (&mut self.input).take(length).read_to_end(&mut bytes).map_err(to_gguf_error)?;
        self.at += length;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_value(&mut self) -> Result<GgufValue, GgufError> {
        let kind = self.read_u32()?;
        if kind == ARRAY {
            return self.skip_array();
        }
        if kind == TEXT {
            return self.read_text().map(GgufValue::Text);
        }
        match value_width(kind)? {
            1 => self.read_array::<1>().map(|_| GgufValue::Other),
            2 => self.read_array().map(|it| GgufValue::Number(u16::from_le_bytes(it).into())),
            4 => self.read_array().map(|it| GgufValue::Number(u32::from_le_bytes(it).into())),
            _ => self.read_array().map(|it| GgufValue::Number(u64::from_le_bytes(it))),
        }
    }

    fn skip_array(&mut self) -> Result<GgufValue, GgufError> {
        let kind = self.read_u32()?;
        let count = self.read_u64()?;
        if kind == TEXT {
            for _ in 0..count {
                let length = at_most(self.read_u64()?, TEXT_BYTES_MAX, "a text that is too long")?;
                self.skip_bytes(length)?;
            }
            return Ok(GgufValue::Other);
        }
        self.skip_bytes(count.saturating_mul(value_width(kind)?))?;
        Ok(GgufValue::Other)
    }

    /// End of a tensor, relative to the start of the tensor data.
    fn tensor_end(&mut self) -> Result<u64, GgufError> {
        self.read_text()?;
        let dimensions = self.read_u32()?;
        if DIMENSIONS_MAX < dimensions {
            return Err(GgufError::Malformed("a tensor of too many dimensions"));
        }
        let mut elements: u64 = 1;
        for _ in 0..dimensions {
            elements = elements.saturating_mul(self.read_u64()?);
        }
        let kind = self.read_u32()?;
        let offset = self.read_u64()?;
        Ok(offset.saturating_add(tensor_bytes(kind, elements)))
    }

    fn skip_bytes(&mut self, length: u64) -> Result<(), GgufError> {
        self.check_remaining(length)?;
        let mut left = length;
        while 0 < left {
            let ahead = self.input.fill_buf().map_err(to_gguf_error)?.len();
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(ahead);
            if step == 0 {
                return Err(self.truncation_error(left));
            }
            self.input.consume(step);
            left -= step as u64;
        }
        self.at += length;
        Ok(())
    }

    fn check_remaining(&self, length: u64) -> Result<(), GgufError> {
        let is_there = self.at.saturating_add(length) <= self.bytes;
        if is_there { Ok(()) } else { Err(self.truncation_error(length)) }
    }

    fn truncation_error(&self, length: u64) -> GgufError {
        GgufError::Cut { bytes: self.bytes, needed: self.at.saturating_add(length) }
    }
}

const TEXT: u32 = 8;
const ARRAY: u32 = 9;

/// Size of a value that is neither a string nor an array.
fn value_width(kind: u32) -> Result<u64, GgufError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(GgufError::Malformed("a value of an unknown kind")),
    }
}

fn at_most(number: u64, most: u64, otherwise: &'static str) -> Result<u64, GgufError> {
    if number <= most { Ok(number) } else { Err(GgufError::Malformed(otherwise)) }
}

/// Size of a tensor in bytes. Types that are not listed here count as empty: the runtime may know
/// them.
fn tensor_bytes(kind: u32, elements: u64) -> u64 {
    let known = TENSOR_KINDS.iter().find(|(number, _, _)| *number == kind);
    known.map_or(0, |(_, block, bytes)| elements.div_ceil(*block).saturating_mul(*bytes))
}

/// Type number, elements per block, and bytes per block.
const TENSOR_KINDS: [(u32, u64, u64); 32] = [
    (0, 1, 4),
    (1, 1, 2),
    (2, 32, 18),
    (3, 32, 20),
    (6, 32, 22),
    (7, 32, 24),
    (8, 32, 34),
    (9, 32, 36),
    (10, 256, 84),
    (11, 256, 110),
    (12, 256, 144),
    (13, 256, 176),
    (14, 256, 210),
    (15, 256, 292),
    (16, 256, 66),
    (17, 256, 74),
    (18, 256, 98),
    (19, 256, 50),
    (20, 32, 18),
    (21, 256, 110),
    (22, 256, 82),
    (23, 256, 136),
    (24, 1, 1),
    (25, 1, 2),
    (26, 1, 4),
    (27, 1, 8),
    (28, 1, 8),
    (29, 256, 56),
    (30, 1, 2),
    (34, 256, 54),
    (35, 256, 66),
    (39, 32, 17),
];
