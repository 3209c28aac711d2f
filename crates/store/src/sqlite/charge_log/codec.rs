//! Encodes the charges of one commit as a record of the charge log, and decodes them.
//!
//! The first byte is the version of the format. A record outlives its process only after a crash,
//! but the release that reads it may be a later one: a changed format is a new version, and the old
//! one is still read.

use credits::{
    Account, EntryId, KeyId, KeyStamp, LimitClass, LotKey, LotTag, Network, OwnerId, Record,
    SystemAccount, SystemKind, Transfer, TransferCode,
};
use moment::Timestamp;
use money::{Currency, Nano, Per, Price};

use crate::sqlite::charge_log::bytes::{Decoder, Encoder};
use crate::usage::{UsageDetails, UsageRow};
use crate::write::{Group, Write};

#[cfg(test)]
mod tests;

const VERSION: u8 = 1;

/// Bytes of a chat completion with two lines, rounded up.
const GROUP_BYTES_USUAL: usize = 512;

const TRANSFER: u8 = 1;
const KEY_SPENT: u8 = 2;
const USAGE: u8 = 3;

/// The reason why a record cannot be decoded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("it has form {0}, which this release does not know; run the release that wrote it")]
    Version(u8),
    #[error("it is damaged; restore a backup, or ask for help with a copy of the database")]
    Damaged,
}

/// Encodes groups; None if a group is empty or has anything that is not part of a charge.
pub(crate) fn encode<'a>(groups: impl ExactSizeIterator<Item = &'a Group>) -> Option<Vec<u8>> {
    let mut encoder = Encoder { bytes: Vec::with_capacity(groups.len() * GROUP_BYTES_USUAL) };
    encoder.byte(VERSION);
    encoder.unsigned(groups.len() as u64);
    for group in groups {
        if group.writes.is_empty() {
            return None;
        }
        encoder.unsigned(group.writes.len() as u64);
        for write in &group.writes {
            encode_write(&mut encoder, write)?;
        }
    }
    Some(encoder.bytes)
}

pub(crate) fn decode(charges: &[u8]) -> Result<Vec<Group>, Unreadable> {
    let mut decoder = Decoder::new(charges);
    match decoder.byte() {
        Some(VERSION) => {}
        Some(other) => return Err(Unreadable::Version(other)),
        None => return Err(Unreadable::Damaged),
    }
    let groups = decoder.list(|decoder| {
        let writes = decoder.list(decode_write)?;
        Some(Group { writes })
    });
    match groups {
        Some(groups) if decoder.is_at_end() => Ok(groups),
        _ => Err(Unreadable::Damaged),
    }
}

/// The entries that can be decoded from the start of damaged bytes.
pub(crate) fn readable(charges: &[u8]) -> Vec<EntryId> {
    let mut decoder = Decoder::new(charges);
    let mut entries = Vec::new();
    if decoder.byte() != Some(VERSION) {
        return entries;
    }
    for _ in 0..decoder.unsigned().unwrap_or(0) {
        let Some(writes) = decoder.list(decode_write) else { break };
        entries.extend(writes.iter().find_map(|write| match write {
            Write::Journal(Record::Transfer(transfer)) => Some(transfer.entry),
            _ => None,
        }));
    }
    entries
}

fn encode_write(encoder: &mut Encoder, write: &Write) -> Option<()> {
    match write {
        Write::Journal(Record::Transfer(transfer)) => {
            encoder.byte(TRANSFER);
            encode_transfer(encoder, transfer);
        }
        Write::Journal(Record::KeySpent { stamp, class, amount }) => {
            encoder.byte(KEY_SPENT);
            encode_stamp(encoder, *stamp);
            encoder.byte(match class {
                LimitClass::Usd => 1,
                LimitClass::Diem => 2,
            });
            encoder.signed(amount.nanos());
        }
        Write::AddUsage(row) => {
            encoder.byte(USAGE);
            encode_usage(encoder, row);
        }
        _ => return None,
    }
    Some(())
}

fn decode_write(decoder: &mut Decoder<'_>) -> Option<Write> {
    match decoder.byte()? {
        TRANSFER => decode_transfer(decoder).map(Record::Transfer).map(Write::Journal),
        KEY_SPENT => {
            let stamp = decode_stamp(decoder)?;
            let class = match decoder.byte()? {
                1 => LimitClass::Usd,
                2 => LimitClass::Diem,
                _ => return None,
            };
            let amount = decoder.signed().map(Nano::from_nanos)?;
            Some(Write::Journal(Record::KeySpent { stamp, class, amount }))
        }
        USAGE => decode_usage(decoder).map(Write::AddUsage),
        _ => None,
    }
}

fn encode_transfer(encoder: &mut Encoder, transfer: &Transfer) {
    encoder.id(transfer.entry.0);
    encoder.unsigned(transfer.leg.into());
    encode_account(encoder, &transfer.debit);
    encode_account(encoder, &transfer.credit);
    encoder.signed(transfer.amount.nanos());
    encoder.byte(transfer.code.number());
    encoder.signed(transfer.at.ms());
    encoder.byte(u8::from(transfer.key.is_some()));
    if let Some(stamp) = transfer.key {
        encode_stamp(encoder, stamp);
    }
}

fn decode_transfer(decoder: &mut Decoder<'_>) -> Option<Transfer> {
    Some(Transfer {
        entry: decoder.id().map(EntryId)?,
        leg: decoder.unsigned()?.try_into().ok()?,
        debit: decode_account(decoder)?,
        credit: decode_account(decoder)?,
        amount: decoder.signed().map(Nano::from_nanos)?,
        code: decoder.byte().and_then(TransferCode::from_number)?,
        at: decoder.signed().map(Timestamp::from_ms)?,
        key: match decoder.byte()? {
            0 => None,
            1 => Some(decode_stamp(decoder)?),
            _ => return None,
        },
    })
}

fn encode_stamp(encoder: &mut Encoder, stamp: KeyStamp) {
    encoder.id(stamp.key.0);
    encoder.signed(stamp.day);
    encoder.signed(stamp.month);
}

fn decode_stamp(decoder: &mut Decoder<'_>) -> Option<KeyStamp> {
    let key = decoder.id().map(KeyId)?;
    Some(KeyStamp { key, day: decoder.signed()?, month: decoder.signed()? })
}

fn encode_account(encoder: &mut Encoder, account: &Account) {
    encode_currency(encoder, account.currency());
    match account {
        Account::Lot(lot) => {
            match lot.tag {
                LotTag::Main => encoder.byte(1),
                LotTag::Day(day) => {
                    encoder.byte(2);
                    encoder.signed(day);
                }
                LotTag::Month(month) => {
                    encoder.byte(3);
                    encoder.signed(month);
                }
                LotTag::Grant(entry) => {
                    encoder.byte(4);
                    encoder.id(entry.0);
                }
            }
            encoder.id(lot.owner.0);
        }
        Account::System(system) => match &system.kind {
            SystemKind::Cash(network) => {
                encoder.byte(5);
                encoder.text(network.name());
            }
            SystemKind::Revenue => encoder.byte(6),
            SystemKind::Expired => encoder.byte(7),
            SystemKind::Issuance => encoder.byte(8),
            SystemKind::Writeoff => encoder.byte(9),
        },
    }
}

fn decode_account(decoder: &mut Decoder<'_>) -> Option<Account> {
    let currency = decode_currency(decoder)?;
    let kind = match decoder.byte()? {
        1 => return decode_lot(decoder, currency, LotTag::Main),
        2 => {
            let tag = LotTag::Day(decoder.signed()?);
            return decode_lot(decoder, currency, tag);
        }
        3 => {
            let tag = LotTag::Month(decoder.signed()?);
            return decode_lot(decoder, currency, tag);
        }
        4 => {
            let tag = LotTag::Grant(EntryId(decoder.id()?));
            return decode_lot(decoder, currency, tag);
        }
        5 => SystemKind::Cash(Network::parse(&decoder.text()?)?),
        6 => SystemKind::Revenue,
        7 => SystemKind::Expired,
        8 => SystemKind::Issuance,
        9 => SystemKind::Writeoff,
        _ => return None,
    };
    Some(Account::System(SystemAccount { currency, kind }))
}

fn decode_lot(decoder: &mut Decoder<'_>, currency: Currency, tag: LotTag) -> Option<Account> {
    let owner = decoder.id().map(OwnerId)?;
    Some(Account::Lot(LotKey { owner, currency, tag }))
}

fn encode_currency(encoder: &mut Encoder, currency: Currency) {
    encoder.byte(match currency {
        Currency::Usd => 1,
        Currency::Diem => 2,
        Currency::Bundled => 3,
        Currency::Vcu => 4,
    });
}

fn decode_currency(decoder: &mut Decoder<'_>) -> Option<Currency> {
    Some(match decoder.byte()? {
        1 => Currency::Usd,
        2 => Currency::Diem,
        3 => Currency::Bundled,
        4 => Currency::Vcu,
        _ => return None,
    })
}

fn encode_usage(encoder: &mut Encoder, row: &UsageRow) {
    encoder.id(row.charge.0);
    encoder.id(row.owner.0);
    encoder.byte(u8::from(row.key.is_some()));
    if let Some(key) = row.key {
        encoder.id(key.0);
    }
    encoder.signed(row.at.ms());
    encoder.text(&row.sku);
    encoder.text(&row.model);
    encode_currency(encoder, row.currency);
    encoder.unsigned(row.units);
    encoder.signed(row.price.picos());
    encoder.byte(match row.per {
        Per::One => 1,
        Per::Thousand => 2,
        Per::Million => 3,
    });
    encoder.signed(row.amount.nanos());
    encoder.text(&row.details.request_id);
    encoder.optional(row.details.prompt_tokens);
    encoder.optional(row.details.completion_tokens);
    encoder.optional(row.details.execution_ms);
    encoder.text(&row.notes);
}

fn decode_usage(decoder: &mut Decoder<'_>) -> Option<UsageRow> {
    Some(UsageRow {
        charge: decoder.id().map(EntryId)?,
        owner: decoder.id().map(OwnerId)?,
        key: match decoder.byte()? {
            0 => None,
            1 => Some(KeyId(decoder.id()?)),
            _ => return None,
        },
        at: decoder.signed().map(Timestamp::from_ms)?,
        sku: decoder.text()?,
        model: decoder.text()?,
        currency: decode_currency(decoder)?,
        units: decoder.unsigned()?,
        price: decoder.signed().and_then(Price::from_picos)?,
        per: match decoder.byte()? {
            1 => Per::One,
            2 => Per::Thousand,
            3 => Per::Million,
            _ => return None,
        },
        amount: decoder.signed().map(Nano::from_nanos)?,
        details: UsageDetails {
            request_id: decoder.text()?,
            prompt_tokens: decoder.optional()?,
            completion_tokens: decoder.optional()?,
            execution_ms: decoder.optional()?,
        },
        notes: decoder.text()?,
    })
}
