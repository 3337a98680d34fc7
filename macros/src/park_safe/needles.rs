//! Looks for any of several words in text, in one pass.
//!
//! Cargo builds procedural macros without optimization, and there std's own search, which is generic and so built
//! like this crate, was most of what an attribute around a long file cost. Indexing bytes has no such layers.

/// The words.
pub(super) struct Needles {
    words: Vec<String>,
    /// Whether a word begins with this byte.
    first: [bool; 256],
}

impl Needles {
    pub(super) fn new(words: Vec<String>) -> Needles {
        let mut first = [false; 256];
        for byte in words.iter().filter_map(|word| word.bytes().next()) {
            first[usize::from(byte)] = true;
        }
        Needles { words, first }
    }

    /// Whether one of the words stands anywhere in this text.
    pub(super) fn in_text(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if self.first[bytes[at] as usize] && self.word_at(&bytes[at..]) {
                return true;
            }
            at += 1;
        }
        false
    }

    fn word_at(&self, bytes: &[u8]) -> bool {
        self.words
            .iter()
            .any(|word| bytes.starts_with(word.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::Needles;

    #[test]
    fn a_word_is_found_wherever_it_stands() {
        let needles = Needles::new(vec!["Mutex".to_owned(), "raw".to_owned()]);
        for text in [
            "Mutex",
            "a Mutex",
            "StdMutexGuard<",
            "self.raw",
            "Mraw",
            "MMutex",
        ] {
            assert!(needles.in_text(text), "{text}");
        }
        for text in ["", "Mute", "mutex", "RwLock", "ra w"] {
            assert!(!needles.in_text(text), "{text}");
        }
    }
}
