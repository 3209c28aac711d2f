//! Small builders of rows, which keep the checks short.

use credits::{
    Account, EntryId, HoldId, KeyId, LimitPeriod, LotKey, LotTag, Network, OwnerId, Record,
    SystemAccount, SystemKind, Transfer, TransferCode,
};
use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use moment::Timestamp;
use money::{Currency, Nano, Per, Price};
use uuid::Uuid;

use crate::Store;
use crate::error::StoreError;
use crate::key::{ApiKey, KeySettings};
use crate::owner::{Owner, OwnerKind};
use crate::usage::{UsageDetails, UsageRow};
use crate::write::{Group, Write};

pub const DAY_MS: i64 = 86_400_000;
/// 2026-11-15, as a day since 1970.
pub const TODAY: i64 = 20_772;

pub fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(TODAY * DAY_MS + ms)
}

pub fn owner_id(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

pub fn key_id(number: u8) -> KeyId {
    KeyId(Uuid::from_bytes([number | 0x80; 16]))
}

pub fn entry_id(number: u128) -> EntryId {
    EntryId(Uuid::from_u128(number))
}

pub fn hold_id(number: u128) -> HoldId {
    HoldId(Uuid::from_u128(number))
}

pub fn owner(number: u8) -> Owner {
    Owner {
        id: owner_id(number),
        kind: OwnerKind::Account,
        name: format!("owner-{number}"),
        tier: "default".into(),
        created: at(0),
        frozen: None,
    }
}

/// A key of the owner with the same number.
pub fn key(number: u8) -> ApiKey {
    ApiKey {
        id: key_id(number),
        owner: owner_id(number),
        digest: SecretDigest([number; 32]),
        last6: "abcdef".into(),
        kind: KeyKind::Inference,
        settings: KeySettings {
            description: format!("key {number}"),
            limit_usd: Some(Nano::from_units(5)),
            limit_diem: None,
            limit_period: LimitPeriod::Month,
            expires: None,
            model_privacy: ModelPrivacy::All,
        },
        created: at(0),
        last_used: None,
        revoked: None,
    }
}

pub fn add_key(key: ApiKey) -> Write {
    Write::AddKey { key, active_keys_max: 500 }
}

pub fn lot(number: u8) -> LotKey {
    LotKey { owner: owner_id(number), currency: Currency::Usd, tag: LotTag::Main }
}

pub fn lot_opened(lot: LotKey) -> Write {
    Write::Journal(Record::LotOpened { lot, opened_at: at(0), expires_at: None })
}

pub fn system(kind: SystemKind) -> Account {
    Account::System(SystemAccount { currency: Currency::Usd, kind })
}

pub fn cash() -> Account {
    system(SystemKind::Cash(Network::parse("base").expect("base is a network name")))
}

pub fn top_up(entry: u128, lot: LotKey, nanos: i64) -> Transfer {
    Transfer {
        entry: entry_id(entry),
        leg: 0,
        debit: cash(),
        credit: Account::Lot(lot),
        amount: Nano::from_nanos(nanos),
        code: TransferCode::TopUp,
        at: at(0),
        key: None,
    }
}

pub fn charge(entry: u128, lot: LotKey, nanos: i64) -> Transfer {
    Transfer {
        debit: Account::Lot(lot),
        credit: system(SystemKind::Revenue),
        code: TransferCode::Charge,
        ..top_up(entry, lot, nanos)
    }
}

pub fn transfer(transfer: Transfer) -> Write {
    Write::Journal(Record::Transfer(transfer))
}

pub fn usage(number: u8, time: Timestamp, nanos: i64) -> UsageRow {
    UsageRow {
        charge: entry_id(9),
        owner: owner_id(number),
        key: Some(key_id(number)),
        at: time,
        sku: "llama-output-mtoken".into(),
        model: "llama".into(),
        currency: Currency::Usd,
        units: 227,
        price: Price::from_picos(2_800_000).expect("a price is not negative"),
        per: Per::Million,
        amount: Nano::from_nanos(nanos),
        details: UsageDetails {
            request_id: "0a1b".into(),
            prompt_tokens: Some(12),
            completion_tokens: Some(227),
            execution_ms: Some(340),
        },
        notes: "API Inference".into(),
    }
}

/// Owner and key with the given number, and one dollar in the owner's main lot.
pub async fn furnish(store: &dyn Store, number: u8) {
    let writes = vec![
        Write::AddOwner(owner(number)),
        add_key(key(number)),
        lot_opened(lot(number)),
        transfer(top_up(u128::from(number) << 64, lot(number), 1_000_000_000)),
    ];
    done(store, writes).await;
}

#[track_caller]
pub fn done(store: &dyn Store, writes: Vec<Write>) -> impl Future<Output = ()> {
    let commit = store.commit(Group { writes });
    async move { commit.await.expect("the group should be written") }
}

pub async fn refused(store: &dyn Store, writes: Vec<Write>) -> StoreError {
    store.commit(Group { writes }).await.expect_err("the group should be refused")
}
