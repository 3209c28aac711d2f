//! Enums whose variants each have one written name.

/// An enum whose variants each have one written name, used in the configuration and in the API.
pub trait NamedVariants: Copy + 'static {
    const ALL: &'static [Self];
    /// The names, in the order of `ALL`.
    const NAMES: &'static [&'static str];

    fn name(self) -> &'static str;

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.name() == name)
    }
}

/// Declares an enum together with its names, so that no variant can lack a name.
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        $vis:vis enum $Enum:ident { $($(#[$note:meta])* $Variant:ident = $name:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Enum { $($(#[$note])* $Variant,)+ }

        impl $crate::catalogue::NamedVariants for $Enum {
            const ALL: &'static [$Enum] = &[$($Enum::$Variant,)+];
            const NAMES: &'static [&'static str] = &[$($name,)+];

            fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $name,)+ }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::catalogue::NamedVariants::name(*self))
            }
        }
    };
}

pub(super) use named;
