"""How the user likes to see times and dates; in the contract this is the modality `time`."""
