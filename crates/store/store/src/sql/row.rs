//! The columns of a row, read in the same way from both databases.

use moment::Timestamp;
use money::{Nano, Price, PriceUnits};
use uuid::Uuid;

use crate::error::StoreError;
use crate::names::per_of;

/// The value of a column. An id is its bytes, and a flag is 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnValue<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A row of either database.
pub trait SqlRow {
    fn value(&self, column: usize) -> Result<ColumnValue<'_>, StoreError>;
}

/// A type that a column can be read as.
pub trait ColumnType: Sized {
    /// None if the column has another kind of value, or one that does not fit.
    fn from_value(value: ColumnValue<'_>) -> Option<Self>;
}

impl dyn SqlRow + '_ {
    pub fn get<T: ColumnType>(&self, column: usize) -> Result<T, StoreError> {
        T::from_value(self.value(column)?).ok_or_else(|| {
            let kind = std::any::type_name::<T>();
            StoreError::Failed(format!("column {column} of a row is not a {kind}"))
        })
    }

    /// Parses a name with `parse`; an unknown name is an error.
    pub fn parse<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let ColumnValue::Text(name) = self.value(column)? else {
            return Err(StoreError::Failed(format!("column {column} of a row is not a name")));
        };
        parse(name).ok_or_else(|| refuse_unknown(format!("{name:?}")))
    }
}

/// The error of a value that only a later release writes.
pub fn refuse_unknown(value: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("{value} is not a value that this release knows"))
}

impl<T: ColumnType> ColumnType for Option<T> {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        match value {
            ColumnValue::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Numbers, none of which may be out of range.
macro_rules! integer_columns {
    ($($number:ty),+) => {$(
        impl ColumnType for $number {
            fn from_value(value: ColumnValue<'_>) -> Option<Self> {
                let ColumnValue::Integer(number) = value else { return None };
                number.try_into().ok()
            }
        }
    )+};
}

integer_columns!(i64, u64, u32, u16, u8, usize);

impl ColumnType for bool {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        match value {
            ColumnValue::Integer(0) => Some(false),
            ColumnValue::Integer(1) => Some(true),
            _ => None,
        }
    }
}

impl ColumnType for String {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        let ColumnValue::Text(text) = value else { return None };
        Some(text.to_owned())
    }
}

impl ColumnType for Vec<u8> {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        let ColumnValue::Bytes(bytes) = value else { return None };
        Some(bytes.to_vec())
    }
}

impl<const N: usize> ColumnType for [u8; N] {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        let ColumnValue::Bytes(bytes) = value else { return None };
        bytes.try_into().ok()
    }
}

impl ColumnType for Uuid {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        ColumnType::from_value(value).map(Uuid::from_bytes)
    }
}

impl ColumnType for Timestamp {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        ColumnType::from_value(value).map(Timestamp::from_ms)
    }
}

impl ColumnType for Nano {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        ColumnType::from_value(value).map(Nano::from_nanos)
    }
}

impl ColumnType for Price {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        ColumnType::from_value(value).and_then(Price::from_picos)
    }
}

impl ColumnType for PriceUnits {
    fn from_value(value: ColumnValue<'_>) -> Option<Self> {
        ColumnType::from_value(value).and_then(per_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneColumn(ColumnValue<'static>);

    impl SqlRow for OneColumn {
        fn value(&self, _: usize) -> Result<ColumnValue<'_>, StoreError> {
            Ok(self.0)
        }
    }

    fn read<T: ColumnType>(value: ColumnValue<'static>) -> Option<T> {
        let row: &dyn SqlRow = &OneColumn(value);
        row.get(0).ok()
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error_and_not_another_value() {
        assert_eq!(read::<u8>(ColumnValue::Integer(256)), None);
        assert_eq!(read::<u64>(ColumnValue::Integer(-1)), None);
        assert_eq!(read::<bool>(ColumnValue::Integer(2)), None);
        assert_eq!(read::<i64>(ColumnValue::Null), None);
        assert_eq!(read::<Option<i64>>(ColumnValue::Null), Some(None));
        assert_eq!(read::<Uuid>(ColumnValue::Bytes(&[7; 15])), None);
        assert_eq!(read::<Uuid>(ColumnValue::Bytes(&[7; 16])), Some(Uuid::from_bytes([7; 16])));
        assert_eq!(read::<PriceUnits>(ColumnValue::Integer(10)), None);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let row: &dyn SqlRow = &OneColumn(ColumnValue::Text("NEWER"));
        let error = row.parse(0, |name| (name == "OLD").then_some(())).unwrap_err();
        assert!(error.to_string().contains("\"NEWER\""), "{error}");
    }
}
