int unity;
