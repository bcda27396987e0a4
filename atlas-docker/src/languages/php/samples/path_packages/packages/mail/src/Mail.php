<?php namespace Acme\Mail; class Mail {}
