//! The iterators over a receiver's messages, which both kinds of channels have: types of its own for each.

/// For the `Receiver` of the place where it stands.
macro_rules! iterators {
    () => {
        /// See [`Receiver::iter`].
        #[derive(Debug)]
        pub struct Iter<'a, T> {
            receiver: &'a Receiver<T>,
        }

        /// See [`Receiver::try_iter`].
        #[derive(Debug)]
        pub struct TryIter<'a, T> {
            receiver: &'a Receiver<T>,
        }

        /// All messages of a [`Receiver`] that it owns.
        #[derive(Debug)]
        pub struct IntoIter<T> {
            receiver: Receiver<T>,
        }

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            fn next(&mut self) -> Option<T> {
                self.receiver.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.recv().ok()
            }
        }

        impl<'a, T> IntoIterator for &'a Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter { receiver: self }
            }
        }
    };
}
pub(in crate::sync) use iterators;
