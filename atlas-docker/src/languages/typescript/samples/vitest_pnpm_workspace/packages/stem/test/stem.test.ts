import { leaf } from '@mint/leaf'
