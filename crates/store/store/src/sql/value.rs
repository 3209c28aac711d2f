//! The values of a statement's parameters.

use std::borrow::Cow;

use ledger_core::{EntryId, HoldId, KeyId, OwnerId};
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

use crate::error::StoreError;

/// One value. SQLite stores an id as bytes and a flag as a number; Postgres has types for both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlValue<'a> {
    Null,
    Integer(i64),
    Flag(bool),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    Id(Uuid),
    /// An array for Postgres; for SQLite a JSON array, with ids in hexadecimal.
    Ids(Vec<Uuid>),
    Texts(Vec<String>),
}

/// The values of a statement, in order.
macro_rules! sql_values {
    ($($value:expr),* $(,)?) => {
        [$($crate::sql::SqlValue::from($value)),*]
    };
}
pub(crate) use sql_values;

/// Converts a count to the type of the columns.
pub fn to_signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::Refused("a number does not fit into 64 bits".to_owned()))
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        SqlValue::Integer(number)
    }
}

impl From<u32> for SqlValue<'_> {
    fn from(number: u32) -> Self {
        SqlValue::Integer(number.into())
    }
}

impl From<u16> for SqlValue<'_> {
    fn from(number: u16) -> Self {
        SqlValue::Integer(number.into())
    }
}

impl From<u8> for SqlValue<'_> {
    fn from(number: u8) -> Self {
        SqlValue::Integer(number.into())
    }
}

/// A row limit or a position, at most `i64::MAX`.
impl From<usize> for SqlValue<'_> {
    fn from(rows: usize) -> Self {
        SqlValue::Integer(i64::try_from(rows).unwrap_or(i64::MAX))
    }
}

impl From<bool> for SqlValue<'_> {
    fn from(flag: bool) -> Self {
        SqlValue::Flag(flag)
    }
}

impl From<Timestamp> for SqlValue<'_> {
    fn from(at: Timestamp) -> Self {
        SqlValue::Integer(at.ms())
    }
}

impl From<Nano> for SqlValue<'_> {
    fn from(amount: Nano) -> Self {
        SqlValue::Integer(amount.nanos())
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        SqlValue::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for SqlValue<'a> {
    fn from(text: &'a String) -> Self {
        SqlValue::Text(Cow::Borrowed(text))
    }
}

impl From<String> for SqlValue<'_> {
    fn from(text: String) -> Self {
        SqlValue::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for SqlValue<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        SqlValue::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for SqlValue<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        SqlValue::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for SqlValue<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        SqlValue::Bytes(Cow::Borrowed(bytes))
    }
}

impl<const N: usize> From<[u8; N]> for SqlValue<'_> {
    fn from(bytes: [u8; N]) -> Self {
        SqlValue::Bytes(Cow::Owned(bytes.to_vec()))
    }
}

impl From<Uuid> for SqlValue<'_> {
    fn from(id: Uuid) -> Self {
        SqlValue::Id(id)
    }
}

impl From<Vec<Uuid>> for SqlValue<'_> {
    fn from(ids: Vec<Uuid>) -> Self {
        SqlValue::Ids(ids)
    }
}

impl From<Vec<String>> for SqlValue<'_> {
    fn from(texts: Vec<String>) -> Self {
        SqlValue::Texts(texts)
    }
}

impl<'a, T: Into<SqlValue<'a>>> From<Option<T>> for SqlValue<'a> {
    fn from(optional: Option<T>) -> Self {
        optional.map_or(SqlValue::Null, Into::into)
    }
}

/// Ids are written as what they contain.
macro_rules! id_values {
    ($($id:ty),+ $(,)?) => {$(
        impl From<$id> for SqlValue<'_> {
            fn from(id: $id) -> Self {
                SqlValue::from(id.0)
            }
        }

        impl $crate::sql::row::ColumnType for $id {
            fn from_value(value: $crate::sql::ColumnValue<'_>) -> Option<Self> {
                $crate::sql::row::ColumnType::from_value(value).map(Self)
            }
        }
    )+};
}

id_values!(
    EntryId,
    HoldId,
    KeyId,
    OwnerId,
    crate::batch::BatchId,
    crate::claim::ClaimId,
    crate::conversation::ConversationId,
    crate::file::FileId,
    crate::job::JobId,
    crate::media::MediaId,
    crate::model_response::ResponseId,
    domain::secret::SecretDigest,
);
