//! Encodes the charges of one commit as a row of the charge log, and decodes them.
//!
//! The first byte is the version of the format. A row outlives its process only after a crash, but
//! the release that reads it may be a later one: a changed format is a new version, and the old one
//! is still read.

use ledger_core::{
    EntryId, JournalRecord, KeyId, KeyStamp, LedgerAccount, LedgerTransfer, LimitClass, LotKey,
    LotTag, OwnerId, PaymentNetwork, SystemAccount, SystemKind, TransferCode,
};
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price, PriceUnits};

use crate::sqlite::charge_log::bytes::{CompactDecoder, CompactEncoder};
use crate::usage::{UsageDetails, UsageRow};
use crate::write::{StoreWrite, WriteGroup};

#[cfg(test)]
mod tests;

/// Versions 1 and 2 were those of the file that earlier releases used.
const VERSION: u8 = 3;

/// Bytes of a chat completion with two lines, rounded up.
const GROUP_BYTES_USUAL: usize = 512;

const TRANSFER: u8 = 1;
const KEY_SPENT: u8 = 2;
const USAGE: u8 = 3;

/// The reason why a row cannot be decoded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RowDecodeError {
    #[error("it has form {0}, which this release does not know; run the release that wrote it")]
    Version(u8),
    #[error("it is damaged; restore a backup, or ask for help with a copy of the database")]
    Damaged,
}

/// Encodes groups; None if a group is empty or has anything that is not part of a charge.
pub(crate) fn encode_groups<'a>(
    groups: impl ExactSizeIterator<Item = &'a WriteGroup>,
) -> Option<Vec<u8>> {
    let mut encoder =
        CompactEncoder { bytes: Vec::with_capacity(groups.len() * GROUP_BYTES_USUAL) };
    encoder.encode_byte(VERSION);
    encoder.encode_unsigned(groups.len() as u64);
    for group in groups {
        if group.writes.is_empty() {
            return None;
        }
        encoder.encode_unsigned(group.writes.len() as u64);
        for write in &group.writes {
            encode_write(&mut encoder, write)?;
        }
    }
    Some(encoder.bytes)
}

pub(crate) fn decode_groups(charges: &[u8]) -> Result<Vec<WriteGroup>, RowDecodeError> {
    let mut decoder = CompactDecoder::new(charges);
    match decoder.decode_byte() {
        Some(VERSION) => {}
        Some(other) => return Err(RowDecodeError::Version(other)),
        None => return Err(RowDecodeError::Damaged),
    }
    let groups = decoder.decode_list(|decoder| {
        let writes = decoder.decode_list(decode_write)?;
        Some(WriteGroup { writes })
    });
    match groups {
        Some(groups) if decoder.is_at_end() => Ok(groups),
        _ => Err(RowDecodeError::Damaged),
    }
}

fn encode_write(encoder: &mut CompactEncoder, write: &StoreWrite) -> Option<()> {
    match write {
        StoreWrite::Journal(JournalRecord::Transfer(transfer)) => {
            encoder.encode_byte(TRANSFER);
            encode_transfer(encoder, transfer);
        }
        StoreWrite::Journal(JournalRecord::KeySpent { stamp, class, amount }) => {
            encoder.encode_byte(KEY_SPENT);
            encode_stamp(encoder, *stamp);
            encoder.encode_byte(match class {
                LimitClass::Usd => 1,
                LimitClass::Diem => 2,
            });
            encoder.encode_signed(amount.nanos());
        }
        StoreWrite::AddUsage(row) => {
            encoder.encode_byte(USAGE);
            encode_usage(encoder, row);
        }
        _ => return None,
    }
    Some(())
}

fn decode_write(decoder: &mut CompactDecoder<'_>) -> Option<StoreWrite> {
    match decoder.decode_byte()? {
        TRANSFER => decode_transfer(decoder).map(JournalRecord::Transfer).map(StoreWrite::Journal),
        KEY_SPENT => {
            let stamp = decode_stamp(decoder)?;
            let class = match decoder.decode_byte()? {
                1 => LimitClass::Usd,
                2 => LimitClass::Diem,
                _ => return None,
            };
            let amount = decoder.decode_signed().map(Nano::from_nanos)?;
            Some(StoreWrite::Journal(JournalRecord::KeySpent { stamp, class, amount }))
        }
        USAGE => decode_usage(decoder).map(StoreWrite::AddUsage),
        _ => None,
    }
}

fn encode_transfer(encoder: &mut CompactEncoder, transfer: &LedgerTransfer) {
    encoder.encode_id(transfer.entry.0);
    encoder.encode_unsigned(transfer.leg.into());
    encode_account(encoder, &transfer.debit);
    encode_account(encoder, &transfer.credit);
    encoder.encode_signed(transfer.amount.nanos());
    encoder.encode_byte(transfer.code.number());
    encoder.encode_signed(transfer.at.ms());
    encoder.encode_byte(u8::from(transfer.key.is_some()));
    if let Some(stamp) = transfer.key {
        encode_stamp(encoder, stamp);
    }
}

fn decode_transfer(decoder: &mut CompactDecoder<'_>) -> Option<LedgerTransfer> {
    Some(LedgerTransfer {
        entry: decoder.decode_id().map(EntryId)?,
        leg: decoder.decode_unsigned()?.try_into().ok()?,
        debit: decode_account(decoder)?,
        credit: decode_account(decoder)?,
        amount: decoder.decode_signed().map(Nano::from_nanos)?,
        code: decoder.decode_byte().and_then(TransferCode::from_number)?,
        at: decoder.decode_signed().map(Timestamp::from_ms)?,
        key: match decoder.decode_byte()? {
            0 => None,
            1 => Some(decode_stamp(decoder)?),
            _ => return None,
        },
    })
}

fn encode_stamp(encoder: &mut CompactEncoder, stamp: KeyStamp) {
    encoder.encode_id(stamp.key.0);
    encoder.encode_signed(stamp.day);
    encoder.encode_signed(stamp.month);
}

fn decode_stamp(decoder: &mut CompactDecoder<'_>) -> Option<KeyStamp> {
    let key = decoder.decode_id().map(KeyId)?;
    Some(KeyStamp { key, day: decoder.decode_signed()?, month: decoder.decode_signed()? })
}

fn encode_account(encoder: &mut CompactEncoder, account: &LedgerAccount) {
    encode_currency(encoder, account.currency());
    match account {
        LedgerAccount::Lot(lot) => {
            match lot.tag {
                LotTag::Main => encoder.encode_byte(1),
                LotTag::Day(day) => {
                    encoder.encode_byte(2);
                    encoder.encode_signed(day);
                }
                LotTag::Month(month) => {
                    encoder.encode_byte(3);
                    encoder.encode_signed(month);
                }
                LotTag::Grant(entry) => {
                    encoder.encode_byte(4);
                    encoder.encode_id(entry.0);
                }
                LotTag::Debt => encoder.encode_byte(10),
            }
            encoder.encode_id(lot.owner.0);
        }
        LedgerAccount::System(system) => match &system.kind {
            SystemKind::Cash(network) => {
                encoder.encode_byte(5);
                encoder.encode_text(network.name());
            }
            SystemKind::Revenue => encoder.encode_byte(6),
            SystemKind::Expired => encoder.encode_byte(7),
            SystemKind::Issuance => encoder.encode_byte(8),
            SystemKind::Writeoff => encoder.encode_byte(9),
        },
    }
}

fn decode_account(decoder: &mut CompactDecoder<'_>) -> Option<LedgerAccount> {
    let currency = decode_currency(decoder)?;
    let kind = match decoder.decode_byte()? {
        1 => return decode_lot(decoder, currency, LotTag::Main),
        2 => {
            let tag = LotTag::Day(decoder.decode_signed()?);
            return decode_lot(decoder, currency, tag);
        }
        3 => {
            let tag = LotTag::Month(decoder.decode_signed()?);
            return decode_lot(decoder, currency, tag);
        }
        4 => {
            let tag = LotTag::Grant(EntryId(decoder.decode_id()?));
            return decode_lot(decoder, currency, tag);
        }
        5 => SystemKind::Cash(PaymentNetwork::parse(&decoder.decode_text()?)?),
        6 => SystemKind::Revenue,
        7 => SystemKind::Expired,
        8 => SystemKind::Issuance,
        9 => SystemKind::Writeoff,
        10 => return decode_lot(decoder, currency, LotTag::Debt),
        _ => return None,
    };
    Some(LedgerAccount::System(SystemAccount { currency, kind }))
}

fn decode_lot(
    decoder: &mut CompactDecoder<'_>,
    currency: BalanceCurrency,
    tag: LotTag,
) -> Option<LedgerAccount> {
    let owner = decoder.decode_id().map(OwnerId)?;
    Some(LedgerAccount::Lot(LotKey { owner, currency, tag }))
}

fn encode_currency(encoder: &mut CompactEncoder, currency: BalanceCurrency) {
    encoder.encode_byte(match currency {
        BalanceCurrency::Usd => 1,
        BalanceCurrency::Diem => 2,
        BalanceCurrency::Bundled => 3,
        BalanceCurrency::Vcu => 4,
    });
}

fn decode_currency(decoder: &mut CompactDecoder<'_>) -> Option<BalanceCurrency> {
    Some(match decoder.decode_byte()? {
        1 => BalanceCurrency::Usd,
        2 => BalanceCurrency::Diem,
        3 => BalanceCurrency::Bundled,
        4 => BalanceCurrency::Vcu,
        _ => return None,
    })
}

fn encode_usage(encoder: &mut CompactEncoder, row: &UsageRow) {
    encoder.encode_id(row.charge.0);
    encoder.encode_id(row.owner.0);
    encoder.encode_byte(u8::from(row.key.is_some()));
    if let Some(key) = row.key {
        encoder.encode_id(key.0);
    }
    encoder.encode_signed(row.at.ms());
    encoder.encode_text(&row.sku);
    encoder.encode_text(&row.model);
    encode_currency(encoder, row.currency);
    encoder.encode_unsigned(row.units);
    encoder.encode_signed(row.price.picos());
    encoder.encode_byte(match row.per {
        PriceUnits::One => 1,
        PriceUnits::Thousand => 2,
        PriceUnits::Million => 3,
    });
    encoder.encode_signed(row.amount.nanos());
    encoder.encode_text(&row.details.request_id);
    encoder.encode_optional(row.details.prompt_tokens);
    encoder.encode_optional(row.details.completion_tokens);
    encoder.encode_optional(row.details.execution_ms);
    encoder.encode_optional(row.details.cached_tokens);
    encoder.encode_optional(row.details.session);
    encoder.encode_text(&row.notes);
}

fn decode_usage(decoder: &mut CompactDecoder<'_>) -> Option<UsageRow> {
    Some(UsageRow {
        charge: decoder.decode_id().map(EntryId)?,
        owner: decoder.decode_id().map(OwnerId)?,
        key: match decoder.decode_byte()? {
            0 => None,
            1 => Some(KeyId(decoder.decode_id()?)),
            _ => return None,
        },
        at: decoder.decode_signed().map(Timestamp::from_ms)?,
        sku: decoder.decode_text()?,
        model: decoder.decode_text()?,
        currency: decode_currency(decoder)?,
        units: decoder.decode_unsigned()?,
        price: decoder.decode_signed().and_then(Price::from_picos)?,
        per: match decoder.decode_byte()? {
            1 => PriceUnits::One,
            2 => PriceUnits::Thousand,
            3 => PriceUnits::Million,
            _ => return None,
        },
        amount: decoder.decode_signed().map(Nano::from_nanos)?,
        details: UsageDetails {
            request_id: decoder.decode_text()?,
            prompt_tokens: decoder.decode_optional()?,
            completion_tokens: decoder.decode_optional()?,
            execution_ms: decoder.decode_optional()?,
            cached_tokens: decoder.decode_optional()?,
            session: decoder.decode_optional()?,
        },
        notes: decoder.decode_text()?,
    })
}
