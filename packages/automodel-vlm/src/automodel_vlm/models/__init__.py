"""The model classes of the vision-language domain."""
