//! Values that have a form as text.

/// Lets a type be read from the text that its `parse` takes, also by serde, and become the text
/// that its `Display` writes.
macro_rules! text_form {
    ($type:ident) => {
        impl std::str::FromStr for $type {
            type Err = crate::WordError;

            fn from_str(text: &str) -> Result<Self, crate::WordError> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = crate::WordError;

            fn try_from(text: String) -> Result<Self, crate::WordError> {
                Self::parse(&text)
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
